"""The bridge between browsers and workcells: pages, signalling, video down, device samples up."""
