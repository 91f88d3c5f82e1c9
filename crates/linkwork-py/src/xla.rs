//! Quantities called by XLA itself, for `linkwork.jax`: a handler of its foreign function interface, version 0.3.
//!
//! A call has the number of a model and of a quantity as attributes, and perhaps a frame; its arguments are arrays of one type, states times
//! numbers, and so is its result. No interpreter takes part. Structures are those of XLA's header `ffi/api/c_api.h`, as far as they are read.

// Fields that nobody reads keep the others in their places.
#![allow(dead_code)]

use crate::evaluate::{locked, numbered, set};
use crate::model::Model;
use crate::pool;
use linkwork::batch::Real;
use linkwork::quantity::{BatchEvaluation, Given, Input};
use linkwork_formats::Robot;
use pyo3::prelude::*;
use std::ffi::{CString, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

/// What a handler says that it was written for.
const VERSION: [c_int; 2] = [0, 3];
const METADATA: c_int = 1;
const BUFFER: c_int = 1;
const SCALAR: c_int = 3;
const STRING: c_int = 4;
const F32: c_int = 11;
const F64: c_int = 12;
const S64: c_int = 5;
const INVALID_ARGUMENT: c_int = 3;

#[repr(C)]
struct Extension {
    size: usize,
    kind: c_int,
    next: *mut Extension,
}

#[repr(C)]
struct Version {
    size: usize,
    extension: *mut Extension,
    major: c_int,
    minor: c_int,
}

#[repr(C)]
struct Metadata {
    size: usize,
    version: Version,
    traits: u32,
    state: i64,
}

#[repr(C)]
struct MetadataExtension {
    base: Extension,
    metadata: *mut Metadata,
}

#[repr(C)]
struct Problem {
    size: usize,
    extension: *mut Extension,
    message: *const c_char,
    code: c_int,
}

#[repr(C)]
struct Api {
    size: usize,
    extension: *mut Extension,
    version: Version,
    internal: *const c_void,
    create_error: unsafe extern "C" fn(*mut Problem) -> *mut c_void,
}

#[repr(C)]
struct Buffer {
    size: usize,
    extension: *mut Extension,
    kind: c_int,
    data: *mut c_void,
    rank: i64,
    dimensions: *const i64,
}

#[repr(C)]
struct Buffers {
    size: usize,
    extension: *mut Extension,
    count: i64,
    kinds: *const c_int,
    all: *const *const Buffer,
}

#[repr(C)]
struct Text {
    start: *const c_char,
    length: usize,
}

#[repr(C)]
struct Scalar {
    kind: c_int,
    value: *const c_void,
}

#[repr(C)]
struct Attributes {
    size: usize,
    extension: *mut Extension,
    count: i64,
    kinds: *const c_int,
    names: *const *const Text,
    all: *const *const c_void,
}

#[repr(C)]
struct Call {
    size: usize,
    extension: *mut Extension,
    api: *const Api,
    context: *mut c_void,
    stage: c_int,
    arguments: Buffers,
    results: Buffers,
    attributes: Attributes,
}

/// A model that compiled programs call, and memory that no call uses at the moment.
struct Known {
    robot: Arc<Robot>,
    doubles: Mutex<Vec<BatchEvaluation<f64>>>,
    singles: Mutex<Vec<BatchEvaluation<f32>>>,
}

/// By their numbers. They stay: a program that was compiled may outlive its model.
static KNOWN: Mutex<Vec<Arc<Known>>> = Mutex::new(Vec::new());

/// Makes a model known to compiled programs; its number.
#[pyfunction]
pub(crate) fn xla_model(model: &Bound<'_, Model>) -> usize {
    let mut known = locked(&KNOWN);
    known.push(Arc::new(Known {
        robot: model.get().robot.clone(),
        doubles: Mutex::default(),
        singles: Mutex::default(),
    }));
    known.len() - 1
}

/// The address of the handler, and the version of the interface that it is of.
#[pyfunction]
pub(crate) fn xla_handler() -> (usize, [c_int; 2]) {
    (handle as *const () as usize, VERSION)
}

unsafe extern "C" fn handle(call: *mut Call) -> *mut c_void {
    // SAFETY: XLA calls with what its interface says.
    let call = unsafe { &mut *call };
    // SAFETY: the same.
    let asked = unsafe { call.extension.as_mut() };
    if let Some(asked) = asked.filter(|e| e.kind == METADATA) {
        // SAFETY: of this kind it is one of metadata.
        unsafe {
            let extension = &mut *std::ptr::from_mut(asked).cast::<MetadataExtension>();
            let metadata = &mut *extension.metadata;
            [metadata.version.major, metadata.version.minor] = VERSION;
            metadata.traits = 0;
        }
        return std::ptr::null_mut();
    }
    let done = catch_unwind(AssertUnwindSafe(|| compute(call)));
    let message = match done {
        Ok(Ok(())) => return std::ptr::null_mut(),
        Ok(Err(message)) => message,
        Err(_) => "a quantity failed inside the library; this is a fault of it".to_owned(),
    };
    let message = CString::new(message.replace('\0', " ")).unwrap_or_default();
    let mut problem = Problem {
        size: size_of::<Problem>(),
        extension: std::ptr::null_mut(),
        message: message.as_ptr(),
        code: INVALID_ARGUMENT,
    };
    // SAFETY: the interface has this function, which copies the message.
    unsafe { ((*call.api).create_error)(&mut problem) }
}

/// What a call says by name.
#[derive(Default)]
struct Asked<'a> {
    model: usize,
    quantity: usize,
    frame: Option<&'a str>,
}

fn compute(call: &Call) -> Result<(), String> {
    let asked = asked(&call.attributes)?;
    let known = locked(&KNOWN).get(asked.model).cloned();
    let known = known.ok_or("the model is not known in this process; trace the function again")?;
    let (arguments, results) = (buffers(&call.arguments)?, buffers(&call.results)?);
    let [result] = results[..] else {
        return Err("a quantity has one result".into());
    };
    match result.kind {
        F64 => evaluate::<f64>(&known, &known.doubles, &asked, &arguments, result),
        F32 => evaluate::<f32>(&known, &known.singles, &asked, &arguments, result),
        _ => Err("numbers must be float32 or float64".into()),
    }
}

fn asked<'a>(given: &'a Attributes) -> Result<Asked<'a>, String> {
    let mut out = Asked::default();
    for i in 0..given.count as usize {
        // SAFETY: as many as it says, each of its kind.
        unsafe {
            let name = text(&**given.names.add(i));
            let (kind, value) = (*given.kinds.add(i), *given.all.add(i));
            match (name, kind) {
                ("frame", STRING) => out.frame = Some(text(&*value.cast::<Text>())),
                (_, SCALAR) => {
                    let scalar = &*value.cast::<Scalar>();
                    if scalar.kind != S64 {
                        return Err(format!("`{name}` must be an int64"));
                    }
                    let number = *scalar.value.cast::<i64>() as usize;
                    match name {
                        "model" => out.model = number,
                        "quantity" => out.quantity = number,
                        _ => {}
                    }
                }
                _ => {}
            }
        }
    }
    Ok(out)
}

/// # Safety
/// It is a text that stays.
unsafe fn text(text: &Text) -> &str {
    if text.length == 0 {
        return "";
    }
    // SAFETY: as the caller promises.
    let bytes = unsafe { std::slice::from_raw_parts(text.start.cast::<u8>(), text.length) };
    std::str::from_utf8(bytes).unwrap_or("")
}

fn buffers(given: &Buffers) -> Result<Vec<&Buffer>, String> {
    let all = (0..given.count as usize).map(|i| {
        // SAFETY: as many as it says, each of its kind.
        unsafe {
            match *given.kinds.add(i) {
                BUFFER => Ok(&**given.all.add(i)),
                _ => Err("only arrays are taken".to_owned()),
            }
        }
    });
    all.collect()
}

impl Buffer {
    fn len(&self) -> usize {
        // SAFETY: as many dimensions as it says.
        (0..self.rank as usize)
            .map(|i| unsafe { *self.dimensions.add(i) } as usize)
            .product()
    }
}

/// States with fewer degrees of freedom in all are not worth waking other threads for.
const FEW: usize = 1000;

fn evaluate<T: Real>(
    known: &Known,
    spare: &Mutex<Vec<BatchEvaluation<T>>>,
    asked: &Asked<'_>,
    arguments: &[&Buffer],
    result: &Buffer,
) -> Result<(), String> {
    let m = &known.robot.mechanism;
    let quantity = numbered(asked.quantity).map_err(|e| e.to_string())?;
    let mut given = Given::<T>::default();
    if let Some(frame) = asked.frame {
        given.frame = m.frame(frame).map_err(|e| e.to_string())?;
        given.reference = linkwork::Reference::Local;
    }
    let inputs = quantity.inputs.iter().filter(|i| i.len(m).is_some());
    let inputs: Vec<Input> = inputs.copied().collect();
    if inputs.len() != arguments.len() || arguments.iter().any(|a| a.kind != result.kind) {
        return Err(format!("{} takes {} arrays of one type", quantity.name, inputs.len()));
    }
    for (input, argument) in inputs.iter().zip(arguments) {
        let length = argument.len();
        // SAFETY: XLA's arrays are whole and aligned, of the type that it says, and stay through the call.
        let numbers: &[T] = match length {
            0 => &[],
            _ => unsafe { std::slice::from_raw_parts(argument.data.cast(), length) },
        };
        set(&mut given, *input, numbers);
    }
    let length = result.len();
    if length == 0 {
        return Ok(());
    }
    // SAFETY: the same, and nobody else sees it yet.
    let out: &mut [T] = unsafe { std::slice::from_raw_parts_mut(result.data.cast(), length) };
    let states = given.q.len() / m.nq().max(1);
    let evaluation = locked(spare).pop().unwrap_or_else(|| BatchEvaluation::new(m));
    let run = |threads: usize| {
        let mut evaluation = evaluation.with_threads(threads);
        let done = evaluation.evaluate(quantity, &given, out);
        (evaluation, done)
    };
    let (evaluation, done) = match states * m.nv() < FEW {
        true => run(1),
        false => {
            let pool = pool::started().map_err(|e| e.to_string())?;
            pool.install(|| run(pool.current_num_threads()))
        }
    };
    locked(spare).push(evaluation);
    done.map_err(|e| e.to_string())
}
