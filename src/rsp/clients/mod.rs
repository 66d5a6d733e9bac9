//! Recipes for clients, one page each: how to connect, what works, what the client cannot do and what to type instead.
//!
//! Owns: the pages, which tests/clients tries line by line. There is no code here: the server treats all clients alike.

pub mod debug_adapter {
    #![doc = include_str!("debug_adapter.md")]
}

pub mod lldb {
    #![doc = include_str!("lldb.md")]
}

pub mod machine_interface {
    #![doc = include_str!("machine_interface.md")]
}

pub mod ssh {
    #![doc = include_str!("ssh.md")]
}

pub mod unix_socket {
    #![doc = include_str!("unix_socket.md")]
}
