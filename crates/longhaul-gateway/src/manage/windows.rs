//! What is known of the models that are asked for: looked up once for each name.

use std::sync::{Arc, Mutex, PoisonError};

use longhaul_core::config::Config;
use longhaul_core::models::{ModelSpec, ModelTable};
use longhaul_core::window::WindowStatus;

use crate::branch::GenerationalCache;

/// Names that are remembered: clients can make up any.
const NAMES: usize = 256;

/// A model.
#[derive(Debug)]
pub(super) struct KnownModel {
    pub(super) spec: Arc<ModelSpec>,
    /// Its window with the thresholds; none if it is too small to be managed.
    pub(super) window: Option<WindowStatus>,
}

/// See the module.
pub(super) struct ModelWindows {
    config: Arc<Config>,
    models: Arc<ModelTable>,
    known: Mutex<GenerationalCache<String, Arc<KnownModel>>>,
}

impl ModelWindows {
    pub(super) fn new(config: Arc<Config>, models: Arc<ModelTable>) -> Self {
        Self {
            config,
            models,
            known: Mutex::new(GenerationalCache::new(NAMES)),
        }
    }

    /// By the name that a request has.
    pub(super) fn of(&self, model: &str) -> Arc<KnownModel> {
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        // A name in a variable of its own: the lock is not held while it is looked up.
        let name = model.to_owned();
        let found = known().get(&name);
        if let Some(found) = found {
            return found;
        }
        let spec = self.models.resolve(model).spec;
        let window = longhaul::window(&self.config, &spec).ok();
        let new = Arc::new(KnownModel { spec, window });
        known().put(name, Arc::clone(&new));
        new
    }
}
