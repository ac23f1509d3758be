-- The public base address of the service that started last, so that commands print links that lead to it.
create table service_address (
  single_row boolean primary key default true check (single_row),
  public_base_url text not null
);
