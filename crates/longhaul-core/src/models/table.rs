//! The table of models: built in, extended by a user's file, and searched by any name in a transcript.

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::sync::{Arc, LazyLock};

use super::assemble;
use super::file::{self, ModelFileError, ModelPatch};
use super::name::{self, ModelRoute, RequestedWindow};
use super::spec::ModelSpec;

/// The window that `[1m]` after a name asks for.
const MILLION: u64 = 1_000_000;
const BY_NAME: &str = "The window is 1,000,000 tokens because the name ends in [1m].";

/// The embedded table. A test makes sure that it can be read; otherwise every model would be unknown.
static BUILTIN: LazyLock<ModelTable> = LazyLock::new(|| {
    ModelTable::default()
        .extended_with(include_str!("builtin.toml"))
        .unwrap_or_default()
});

/// All known models, by id.
///
/// ```
/// use longhaul_core::models::ModelTable;
///
/// let models = ModelTable::builtin().extended_with("[models.my-model]\nwindow = 64_000\nmax_output = 8_000\n")?;
/// let mine = models.resolve("my-model");
/// assert_eq!((mine.spec.window, mine.spec.max_output), (64_000, 8_000));
///
/// let unknown = models.resolve("somebody-elses-model");
/// assert!(!unknown.assumptions.is_empty(), "what is assumed about an unknown model is said");
/// # Ok::<(), longhaul_core::models::ModelFileError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct ModelTable {
    models: BTreeMap<String, KnownModelSpec>,
    /// Bare names and aliases, each with the id it refers to.
    names: BTreeMap<String, String>,
}

#[derive(Debug, Clone)]
struct KnownModelSpec {
    patch: ModelPatch,
    spec: Arc<ModelSpec>,
}

/// A model that was looked up by name.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResolvedModel {
    /// The known properties of the model.
    pub spec: Arc<ModelSpec>,
    /// The name that was looked up.
    pub requested: String,
    /// Sentences that say what is assumed about the model and how its name was interpreted.
    pub assumptions: Vec<String>,
}

impl ModelTable {
    /// Returns the models that Longhaul knows by itself.
    pub fn builtin() -> ModelTable {
        BUILTIN.clone()
    }

    /// Returns this table overlaid with a models file, field by field.
    ///
    /// A new id that is another name of a known model (a dated one, for example) starts with that model's values.
    ///
    /// # Errors
    /// Fails at a field that is unknown or has a wrong value, and at prices for only one of input and output; the
    /// message names the line.
    pub fn extended_with(&self, text: &str) -> Result<ModelTable, ModelFileError> {
        let mut table = self.clone();
        for placed in file::read(text)? {
            let base = match self.find(&placed.id) {
                Some(known) if known.spec.id == placed.id => known.patch.clone(),
                // Aliases stay with the model they were given to.
                Some(known) => ModelPatch {
                    aliases: None,
                    ..known.patch.clone()
                },
                None => ModelPatch::default(),
            };
            let patch = base.overlaid(placed.patch);
            let prices =
                assemble::prices(&patch).map_err(|missing| ModelFileError::IncompletePrices {
                    line: placed.line,
                    model: placed.id.clone(),
                    missing,
                })?;
            let spec = Arc::new(assemble::spec(&placed.id, &patch, prices));
            table.insert(placed.id, KnownModelSpec { patch, spec });
        }
        Ok(table)
    }

    /// Finds a model by id or by any of the names that providers use. Every name gets an answer.
    pub fn resolve(&self, requested: &str) -> ResolvedModel {
        let name = name::normalize(requested);
        let million = NonZeroU64::new(MILLION).filter(|_| name.window == RequestedWindow::Million);
        let Some(known) = self.find(requested) else {
            return unknown(requested, million);
        };
        let mut spec = Arc::clone(&known.spec);
        let mut assumptions = spec.assumptions.clone();
        // An id in the table means exactly what the table says.
        let derived = spec.id != requested;
        if derived && name.route == ModelRoute::Reseller && spec.prices.is_some() {
            assumptions.push(format!(
                "`{requested}` is taken as {}, at the prices of its maker's own API.",
                spec.id
            ));
            // The maker's own server tools are not part of what others sell.
            if let Some(prices) = &mut Arc::make_mut(&mut spec).prices {
                prices.web_search = None;
            }
        }
        if derived && million.is_some() && spec.window != MILLION {
            Arc::make_mut(&mut spec).window = MILLION;
            assumptions.push(BY_NAME.into());
        }
        ResolvedModel {
            spec,
            requested: requested.to_owned(),
            assumptions,
        }
    }

    /// Returns all models, by id.
    pub fn models(&self) -> impl Iterator<Item = &ModelSpec> {
        self.models.values().map(|known| known.spec.as_ref())
    }

    fn find(&self, requested: &str) -> Option<&KnownModelSpec> {
        if let Some(known) = self.models.get(requested) {
            return Some(known);
        }
        let plain = name::normalize(requested).plain;
        let named = || self.models.get(self.names.get(&plain)?);
        self.models.get(&plain).or_else(named)
    }

    fn insert(&mut self, id: String, known: KnownModelSpec) {
        for alias in known.patch.aliases.iter().flatten() {
            let plain = name::normalize(alias).plain;
            self.names.insert(plain, id.clone());
        }
        // A dated id is a name of its own, never a name of the bare model.
        let plain = name::normalize(&id).plain;
        self.names.entry(plain).or_insert_with(|| id.clone());
        self.models.insert(id, known);
    }
}

/// Returns an unknown model, with the window that its name may ask for.
fn unknown(requested: &str, window: Option<NonZeroU64>) -> ResolvedModel {
    let patch = ModelPatch {
        window,
        ..ModelPatch::default()
    };
    let spec = assemble::spec(requested, &patch, None);
    let by_name = window.map(|_| BY_NAME.to_owned());
    ResolvedModel {
        requested: requested.to_owned(),
        assumptions: spec.assumptions.iter().cloned().chain(by_name).collect(),
        spec: Arc::new(spec),
    }
}
