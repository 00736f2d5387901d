//! What the model was shown of files, and what changed since (W1, W2).
