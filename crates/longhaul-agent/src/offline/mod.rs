//! The model that answers when there is no key: it works on the user's own folder with the real tools.
