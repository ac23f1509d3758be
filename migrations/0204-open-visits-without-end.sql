-- A visit under way has no end: what its source expects is left out. Until now it was kept, and searches by date went by it.
update encounter
set period_end = null, period_end_source = null
where status = 'in-progress' and (period_end is not null or period_end_source is not null);
