//! OpenCSD, the decoder that Arm and Linaro maintain, as far as tests and benches ask it: what it reads out of a sink.

#![allow(unsafe_code, reason = "OpenCSD is a library of C++")]

use std::ffi::{c_char, c_void};

use opencsd_sys as ocsd;
use traceframe::format::itrace::coresight::formatter::Framing;
use traceframe::format::itrace::instruction::{Code, InstructionSet};

/// What it says.
#[allow(dead_code, reason = "not everybody who asks looks at all of it")]
pub enum Said {
    /// So many instructions were executed one behind the other, up to an address behind the last.
    Executed { set: InstructionSet, start: u64, end: u64, instructions: u32 },
    /// It was given no code there.
    NoCode(u64),
    /// It does not know where execution goes on.
    UnknownAddress,
    /// It reads no further: its response.
    Refused(u32),
}

struct Reading<'a> {
    code: &'a dyn Code,
    said: &'a mut dyn FnMut(u64, Said),
}

/// Reads the source of a trace unit that has these registers; `said` is told what, and at which byte.
pub fn read(
    code: &dyn Code,
    is_64_bit: bool,
    sink: &[u8],
    framing: Framing,
    registers: &[(&str, u64)],
    said: &mut dyn FnMut(u64, Said),
) {
    let register = |wanted: &str| registers.iter().find(|(name, _)| *name == wanted).unwrap().1 as u32;
    let (kind, flags) = match framing {
        Framing::Unformatted => (ocsd::_ocsd_dcd_tree_src_t_OCSD_TRC_SRC_SINGLE, 0),
        Framing::Aligned => {
            (ocsd::_ocsd_dcd_tree_src_t_OCSD_TRC_SRC_FRAME_FORMATTED, ocsd::OCSD_DFRMTR_FRAME_MEM_ALIGN)
        }
        Framing::Synchronized => (
            ocsd::_ocsd_dcd_tree_src_t_OCSD_TRC_SRC_FRAME_FORMATTED,
            ocsd::OCSD_DFRMTR_HAS_FSYNCS | ocsd::OCSD_DFRMTR_HAS_HSYNCS,
        ),
    };
    let configuration = ocsd::ocsd_etmv4_cfg {
        reg_idr0: register("TRCIDR0"),
        reg_idr1: register("TRCIDR1"),
        reg_idr2: register("TRCIDR2"),
        reg_idr8: register("TRCIDR8"),
        reg_idr9: 0,
        reg_idr10: 0,
        reg_idr11: 0,
        reg_idr12: 0,
        reg_idr13: 0,
        reg_configr: register("TRCCONFIGR"),
        reg_traceidr: register("TRCTRACEIDR"),
        arch_ver: if is_64_bit { ocsd::_ocsd_arch_version_ARCH_V8 } else { ocsd::_ocsd_arch_version_ARCH_V7 },
        core_prof: ocsd::_ocsd_core_profile_profile_CortexA,
    };
    let id = register("TRCTRACEIDR") as u8;
    let mut reading = Reading { code, said };
    let context = (&raw mut reading).cast::<c_void>();
    // SAFETY: the tree lives until it is destroyed at the end, and so do all that it is given pointers to: the reading,
    // which nothing else refers to meanwhile, and the sink. The name and the configuration are copied, and of the type
    // that a decoder of ETMv4 wants. The callbacks have the types that they are declared with.
    unsafe {
        let tree = ocsd::ocsd_create_dcd_tree(kind, flags);
        assert!(!tree.is_null());
        let mut found = 0;
        let made = ocsd::ocsd_dt_create_decoder(
            tree,
            ocsd::OCSD_BUILTIN_DCD_ETMV4I.as_ptr().cast::<c_char>(),
            ocsd::OCSD_CREATE_FLG_FULL_DECODER as i32,
            (&raw const configuration).cast(),
            &raw mut found,
        );
        assert_eq!((made, found), (0, if framing == Framing::Unformatted { found } else { id }));
        assert_eq!(ocsd::ocsd_dt_set_gen_elem_outfn(tree, Some(element), context), 0);
        let all = ocsd::_ocsd_mem_space_acc_t_OCSD_MEM_SPACE_ANY;
        assert_eq!(ocsd::ocsd_dt_add_callback_mem_acc(tree, 0, u64::from(u32::MAX), all, Some(memory), context), 0);
        let mut at = 0;
        while at < sink.len() {
            let mut processed = 0;
            let data = ocsd::_ocsd_datapath_op_t_OCSD_OP_DATA;
            let rest = &sink[at..];
            let length = rest.len() as u32;
            let said = ocsd::ocsd_dt_process_data(tree, data, at as u32, length, rest.as_ptr(), &raw mut processed);
            if said as i32 >= ocsd::_ocsd_datapath_resp_t_OCSD_RESP_FATAL_NOT_INIT as i32 || processed == 0 {
                ((*context.cast::<Reading>()).said)(at as u64, Said::Refused(said as u32));
                break;
            }
            at += processed as usize;
        }
        let end = ocsd::_ocsd_datapath_op_t_OCSD_OP_EOT;
        ocsd::ocsd_dt_process_data(tree, end, 0, 0, std::ptr::null(), std::ptr::null_mut());
        ocsd::ocsd_destroy_dcd_tree(tree);
    }
}

/// Takes what OpenCSD tells.
unsafe extern "C" fn element(
    context: *const c_void,
    at: ocsd::ocsd_trc_index_t,
    _: u8,
    element: *const ocsd::ocsd_generic_trace_elem,
) -> ocsd::ocsd_datapath_resp_t {
    // SAFETY: the context is the reading of `read`, and the element is OpenCSD's, there until this returns. Of the union
    // every member is a number of 32 bits or less, and which is meant, its kind tells.
    let (reading, element, instructions) = unsafe {
        let element = &*element;
        (&mut *context.cast_mut().cast::<Reading>(), element, element.__bindgen_anon_2.num_instr_range)
    };
    let said = match element.elem_type {
        ocsd::_ocsd_gen_trc_elem_t_OCSD_GEN_TRC_ELEM_INSTR_RANGE => {
            let set = match element.isa {
                ocsd::_ocsd_isa_ocsd_isa_arm => InstructionSet::A32,
                ocsd::_ocsd_isa_ocsd_isa_thumb2 => InstructionSet::T32,
                _ => InstructionSet::A64,
            };
            Some(Said::Executed { set, start: element.st_addr, end: element.en_addr, instructions })
        }
        ocsd::_ocsd_gen_trc_elem_t_OCSD_GEN_TRC_ELEM_ADDR_NACC => Some(Said::NoCode(element.st_addr)),
        ocsd::_ocsd_gen_trc_elem_t_OCSD_GEN_TRC_ELEM_ADDR_UNKNOWN
        | ocsd::_ocsd_gen_trc_elem_t_OCSD_GEN_TRC_ELEM_I_RANGE_NOPATH => Some(Said::UnknownAddress),
        _ => None,
    };
    if let Some(said) = said {
        (reading.said)(at.into(), said);
    }
    ocsd::_ocsd_datapath_resp_t_OCSD_RESP_CONT
}

/// Gives OpenCSD the program's code.
unsafe extern "C" fn memory(
    context: *const c_void,
    address: u64,
    _: ocsd::ocsd_mem_space_acc_t,
    wanted: u32,
    buffer: *mut u8,
) -> u32 {
    // SAFETY: the context is the reading of `read`, of which only the code is looked at, and the buffer is OpenCSD's,
    // with room for as many bytes as it wants.
    let (code, buffer) =
        unsafe { ((*context.cast::<Reading>()).code, std::slice::from_raw_parts_mut(buffer, wanted as usize)) };
    let code = code.code(address);
    let given = code.len().min(buffer.len());
    buffer[..given].copy_from_slice(&code[..given]);
    given as u32
}
