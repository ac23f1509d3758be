-- What /readyz writes after the database refused a write. It holds nothing that anyone reads.
create table write_probe (filling text not null);
-- Each row fills a page, uncompressed.
alter table write_probe alter column filling set storage plain;
