-- A publish begins by one statement (src/publish/runs/run.store.ts; docs/adr/0106). A process of the version before
-- cannot publish any more; it can again once it runs this version.
drop function publish_begin;
