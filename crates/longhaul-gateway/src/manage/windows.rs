//! The known facts about the requested models: looked up once for each name.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use longhaul_core::config::Config;
use longhaul_core::models::{ModelSpec, ModelTable};
use longhaul_core::window::WindowStatus;

use crate::branch::GenerationalCache;

/// How many names are remembered: clients can make up any.
const NAMES: usize = 256;

/// The known facts about a model.
#[derive(Debug)]
pub(super) struct KnownModel {
    pub(super) spec: Arc<ModelSpec>,
    /// Its window with the thresholds; `None` if it is too small to be managed.
    pub(super) window: Option<WindowStatus>,
}

/// The known facts about the requested models, by name.
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

    /// Looks a model up by the name in a request.
    pub(super) fn of(&self, model: &str) -> Arc<KnownModel> {
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        // The name has a variable of its own so that the lock is not held during the lookup.
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

/// The models without prices for which decisions by price were found impossible: that is said once for each.
#[derive(Debug, Default)]
pub(super) struct UnpricedModels(Mutex<BTreeSet<String>>);

impl UnpricedModels {
    /// Says that nothing is decided by price for a model, unless that was said before.
    pub(super) fn tell_once(&self, model: &str) {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if told.len() < NAMES && told.insert(model.to_owned()) {
            tracing::warn!(
                model,
                "the prices of this model are not known: thresholds alone decide (`economy = \"off\"`). Add them with --models FILE"
            );
        }
    }
}
