//! "Did you mean": finds the known name nearest to an unknown one.

/// The nearest of some names, if it is near enough to be a misspelling.
pub(super) fn nearest(
    typed: &str,
    known: impl Iterator<Item = &'static str>,
) -> Option<&'static str> {
    let most = (typed.len() / 4).clamp(1, 3);
    known
        .map(|name| (strsim::osa_distance(typed, name), name))
        .filter(|(distance, _)| *distance <= most)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// The known key that an unknown one probably means: a near one, else one that ends or begins alike.
pub(super) fn key(
    typed: &str,
    known: impl Iterator<Item = &'static str> + Clone,
) -> Option<&'static str> {
    let last = |key: &str| key.rsplit('.').next().unwrap_or_default().to_owned();
    let typed_last = last(typed);
    nearest(typed, known.clone())
        .or_else(|| known.clone().find(|key| last(key) == typed_last))
        .or_else(|| {
            let inside = |key: &&str| {
                key.strip_prefix(typed)
                    .is_some_and(|rest| rest.starts_with('.'))
            };
            known.clone().find(inside)
        })
}
