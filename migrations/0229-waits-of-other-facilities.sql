-- An import looks at its own facility alone for what waits (docs/adr/0156), which the key finds.
drop index waiting_link_by_target;
