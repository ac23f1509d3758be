import pg from 'pg'; import fs from 'fs'; 
const c = new pg.Client({connectionString: process.env.URL}); await c.connect();
await c.query('begin'); await c.query('lock table refresh_token in share mode'); console.log('locked');
await new Promise(r=>setTimeout(r,63000)); await c.query('rollback'); await c.end();
