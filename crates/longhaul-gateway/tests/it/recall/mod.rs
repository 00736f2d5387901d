//! Recall behind the gateway (X2): the model looks something up in the client's history, and the client sees one reply.

mod house;
mod long;
mod offered;
mod parallel;
mod reduced;
mod rounds;
mod store;
mod thinking;
