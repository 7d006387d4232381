import pg from 'pg'
import t from 'tap'
import { migrateStore } from '../../src/store/index.js'
import { readServerFacts } from '../../src/store/postgres/server-facts.js'
import { FakeClock } from '../support/clock.js'
import { databaseOf, noPostgres, startPostgres } from '../support/postgres.js'
import { makeTempDir } from '../support/store.js'

const skip = noPostgres ?? false

/** What the last migrations have made, taken away again. */
const undo = `
  drop table gone_names, import_pieces, broadcast_left_out, broadcast_why_left, nodes, duties, event_names, event_names_through, automation_drafts, automation_dates, automation_date_due,
    handed_in, operator_keys, surges, site_orders, identities, used_challenges, failed_attempts, rates, node_addresses,
    site_brakes, site_days, host_complaints, node_invites, acme_challenges,
    receiving_rules, received, received_headers, received_texts, refused_arrivals, form_alarms;
  drop index domains_receiving_host, audit_log_target;
  alter table domains drop column receiving_host, drop column receiving_host_ready;
  alter table broadcasts drop column test_seen, drop column test_drawn, drop column unfinished,
    drop column out_unsubscribed, drop column out_bounced, drop column out_complained, drop column out_suppressed, drop column out_topic;
  alter table broadcast_variants drop column unfinished, drop column rest_after, drop column rest_mails, drop column rest_arrived,
    drop column rest_opened, drop column rest_clicked;
  alter table certificates drop column sealed, drop column hash;
  alter table releases drop column contracted;
  alter table sessions drop column came_by;
  alter table api_keys drop column per_hour, drop column per_minute;
  alter table subscriptions drop column surge_id, drop column unbraked_until;
  alter table dkim_keys drop column stage, drop column may_go_at;
  alter table automations drop column reached, drop column by_step, drop column by_event, drop column by_goal, drop column usual_from;
  alter table automation_steps drop column moved_away, drop column moved_here;
  alter table automation_backfills drop column is_segment;
  alter table broadcast_people drop column why_left, drop column provider;
  alter table queue drop column node;
  alter table contacts drop column shelf;
  create index segment_members_contact on segment_members (contact_id);
  create index contacts_phone on contacts (account_id, phone, created_at) where phone is not null;
  create index contacts_name on contacts (account_id, name_key, id) where name_key is not null;
  create index contacts_last_name on contacts (account_id, last_name_key, id) where last_name_key is not null;
  create index queue_stream on queue (lane, class, account_id, due_at, id);
  alter table inbound_spool drop column node;
  alter table tasks drop column node;
  alter table appliance drop column last_epoch, drop column went_back_at, drop column went_back_ms;
  drop index automation_live_step, automation_runs_why, sandbox_messages_account;
  alter table sandbox_messages drop column account_id;
  alter table sandbox_messages drop column email_id;
  delete from kysely_migration where name >= '0161'`

t.test('a database of an earlier schema comes to what a new one is', { skip }, async (t) => {
  const server = await startPostgres(t)
  const [oldDir, newDir] = [makeTempDir(t), makeTempDir(t)]
  const [old, fresh] = [await databaseOf(oldDir, server.url), await databaseOf(newDir, server.url)]
  const run = async (url: string, sql: string) => {
    const client = new pg.Client(url)
    await client.connect()
    try {
      return (await client.query({ text: sql, rowMode: 'array' })).rows
    } finally {
      await client.end()
    }
  }
  const facts = async (url: string) => [
    ...(await run(
      url,
      `select table_name, column_name, data_type, collation_name, is_nullable, column_default, is_identity
        from information_schema.columns where table_schema = 'public' order by 1, 2`,
    )),
    ...(await run(
      url,
      "select indexdef from pg_indexes where schemaname = 'public' order by indexname",
    )),
  ]
  for (const statement of undo.split(';')) await run(old, statement)
  t.not((await facts(old)).length, (await facts(fresh)).length)
  await migrateStore({ dataDir: oldDir, url: old })
  const [become, made] = [await facts(old), await facts(fresh)]
  t.ok(made.length > 1000)
  t.same(become, made)
  const { collation } = await readServerFacts(fresh, new FakeClock(Date.now()))
  t.equal(collation.others, 0, 'Kysely’s own tables are nobody’s fault')
})
