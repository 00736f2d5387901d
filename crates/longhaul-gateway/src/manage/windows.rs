//! The known facts about the requested models: looked up once for each name. Where an upstream has said that a window is
//! smaller than in the table, that is remembered for the tenant: an account may have less than a model can.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use longhaul_core::config::Config;
use longhaul_core::models::{ModelSpec, ModelTable};
use longhaul_core::window::WindowStatus;

use crate::branch::{GenerationalCache, Tenant};

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
    /// Windows that an upstream named, by tenant and model.
    named: Mutex<GenerationalCache<(Tenant, String), Arc<KnownModel>>>,
}

impl ModelWindows {
    pub(super) fn new(config: Arc<Config>, models: Arc<ModelTable>) -> Self {
        Self {
            config,
            models,
            known: Mutex::new(GenerationalCache::new(NAMES)),
            named: Mutex::new(GenerationalCache::new(NAMES)),
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

impl ModelWindows {
    /// What is known of a model for a tenant.
    pub(super) fn of_tenant(&self, tenant: Tenant, model: &str) -> Arc<KnownModel> {
        let named = self.named().get(&(tenant, model.to_owned()));
        named.unwrap_or_else(|| self.of(model))
    }

    /// An upstream has refused a tenant's request, because a model's window has only this many tokens.
    pub(super) fn is_smaller(&self, tenant: Tenant, model: &str, window: u64) {
        let known = self.of_tenant(tenant, model);
        let spec = Arc::new(ModelSpec {
            window,
            ..(*known.spec).clone()
        });
        // One that is too small to be managed is no reason to stop managing.
        let Ok(status) = longhaul::window(&self.config, &spec) else {
            return;
        };
        if known.window.is_some_and(|known| status.size < known.size) {
            tracing::info!(
                model,
                window,
                "the upstream says that this model's window is smaller than known"
            );
            let window = Some(status);
            let known = Arc::new(KnownModel { spec, window });
            self.named().put((tenant, model.to_owned()), known);
        }
    }

    /// A prompt of this many tokens was answered: a smaller window was named for another reason, or holds no more.
    pub(super) fn has_answered(&self, tenant: Tenant, model: &str, prompt: u64) {
        let key = (tenant, model.to_owned());
        let mut named = self.named();
        if named
            .get(&key)
            .is_some_and(|known| known.spec.window < prompt)
        {
            named.forget(&key);
        }
    }

    fn named(&self) -> MutexGuard<'_, GenerationalCache<(Tenant, String), Arc<KnownModel>>> {
        self.named.lock().unwrap_or_else(PoisonError::into_inner)
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
