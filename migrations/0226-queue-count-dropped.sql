-- Only processes before the first release counted the queue for each other (docs/adr/0126, docs/adr/0155).
drop table exchange_queue_count;
