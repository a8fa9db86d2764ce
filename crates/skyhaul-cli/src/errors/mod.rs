//! Errors of `send` and `receive` for programs: stable codes, what each of the libraries' errors is, and the
//! object in the JSON result. A failure of any command carries one ([`crate::failure::Failure`]).

mod causes;
mod code;
mod object;

pub(crate) use causes::{of_fault, of_file, of_files, of_source};
pub(crate) use code::ErrorCode;
pub(crate) use object::ErrorResult;
