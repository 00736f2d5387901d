//! The cache watch (D): notes what each request is made of, compares what the provider read from its cache, and says
//! why a break happened.
