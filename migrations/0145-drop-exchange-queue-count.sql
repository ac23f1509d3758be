-- Each process counts for itself what waits (docs/adr/0126).
drop table exchange_queue_count;
