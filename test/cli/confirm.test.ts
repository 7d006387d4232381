import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import pg from 'pg'
import t, { type Test } from 'tap'
import { type CommandNode, commandTree } from '../../src/cli/command-tree.js'
import { commands } from '../../src/cli/index.js'
import { makeProgram } from '../../src/cli/program.js'
import { systemClock } from '../../src/clock/index.js'
import { makeApplianceKey } from '../../src/config/index.js'
import { addDomain } from '../../src/domains/index.js'
import { parkReport } from '../../src/inbound/parked.js'
import { delay, openEngine, trigger } from '../support/automation-rig.js'
import { openCampaigns } from '../support/campaigns.js'
import { FakeClock } from '../support/clock.js'
import { aboutSqlite, databaseOf, databaseSettings, isPostgres } from '../support/postgres.js'
import { openTestStore } from '../support/store.js'
import { isThorough } from '../support/thorough.js'
import { type Class, classes } from './classes.js'
import { openPlace } from './place.js'
import { atTerminal, ctrlC } from './terminal.js'

t.setTimeout(600_000)

const asking: readonly Class[] = ['guides', 'mild', 'moderate', 'severe']
const classOf = new Map(
  Object.entries(classes).flatMap(([name, members]) => members.map((one) => [one, name as Class])),
)

t.test('every command is in a class, and what asks has --yes and --dry-run', async (t) => {
  const program = makeProgram({ json: false })
  for (const load of Object.values(commands)) (await load())(program)
  const acting = (node: CommandNode): CommandNode[] => [
    ...(node.children.length === 0 || node.values.length > 0 ? [node] : []),
    ...node.children.flatMap(acting),
  ]
  const found = acting(commandTree(program))
  const nameOf = ({ name }: CommandNode) => name.replace('posthorn ', '')
  t.same(found.map(nameOf).sort(), [...classOf.keys()].sort())
  for (const node of found) {
    const names = node.options.flatMap((option) => option.names)
    const asks = asking.includes(classOf.get(nameOf(node)) ?? 'reads')
    for (const option of ['--yes', '--dry-run']) {
      t.equal(names.includes(option), asks, `${node.name} ${option}`)
    }
  }
})

interface Case {
  command: string
  /** Makes something that the command can take away; resolves with its arguments. */
  make: (n: number) => Promise<{ args: readonly string[]; typed?: string }>
  /** What is said of it, in each case. */
  says: RegExp
  /** Of `--dry-run --json`. */
  counts: object
}

type Place = Awaited<ReturnType<typeof openPlace>>

/** All rows of all tables. */
async function contentOf(data: string): Promise<string> {
  if (isPostgres) {
    const client = new pg.Client(await databaseOf(data))
    await client.connect()
    const rowsOf = async (text: string) => (await client.query(text)).rows
    const names = await rowsOf("select tablename from pg_tables where schemaname = 'public'")
    const tables: unknown[] = []
    for (const { tablename } of names) {
      tables.push([tablename, await rowsOf(`select * from "${tablename}"`)])
    }
    await client.end()
    return JSON.stringify(tables)
  }
  const db = new Database(join(data, 'posthorn.db'), { readonly: true })
  try {
    const names = db.prepare("select name from sqlite_master where type = 'table'").pluck().all()
    return JSON.stringify(names.map((name) => [name, db.prepare(`select * from "${name}"`).all()]))
  } finally {
    db.close()
  }
}

/** Classes of which a command was tried at a terminal, where each answer takes a process. */
const triedAtTerminal = new Set<Class>()

/**
 * Tries a command in each way that it can be given; `data` has the database that it changes. All are tried at a
 * terminal in a thorough check, else one of each class.
 */
async function trial(
  t: Test,
  { run, data: own }: Place,
  { command, make, says, counts }: Case,
  data = own,
) {
  const options = { env: { POSTHORN_DATA: own, ...databaseSettings(own) } }
  const how = classOf.get(command) ?? 'reads'
  const answersToo = isThorough || !triedAtTerminal.has(how)
  triedAtTerminal.add(how)
  let { args, typed = 'y' } = await make(1)
  const unchanged = await contentOf(data)
  const isUnchanged = async (how: string) =>
    t.ok((await contentOf(data)) === unchanged, `${how} changes nothing`)

  const dry = await run(...args, '--dry-run')
  t.match(dry, { status: 0, stdout: says }, `${command} --dry-run`)
  const { stdout } = await run(...args, '--dry-run', '--json')
  t.match(JSON.parse(stdout), counts)
  await isUnchanged('--dry-run')

  const wrong = how === 'severe' ? 'y' : 'n'
  const question = how === 'severe' ? /Type .+ to go on: $/ : /Go on\? \[y\/N\] $/
  if (answersToo) {
    const declined = await atTerminal(args, options, [[question, wrong]])
    t.match(declined, { status: 1, text: says }, `${command} asks`)
    t.match(declined.text, /^This will [^\n]+\.\n {2}\S[\s\S]+\n[^\n]+\nNothing was changed\n$/)
    await isUnchanged('no')
  }
  if (how !== 'mild') {
    const refused = await run(...args)
    t.match(refused, { status: 1, stdout: '', stderr: /^error: This would / }, `${command} refuses`)
    t.match(refused.stderr, says)
    t.match(
      refused.stderr,
      /Nothing was changed; with --yes it is done, --dry-run only says this\n$/,
    )
    const inJson = await run(...args, '--json')
    t.match(inJson, { status: 1, stdout: '' })
    t.match(JSON.parse(inJson.stderr), { error: { code: 'unconfirmed', advice: /^with --yes/ } })
    await isUnchanged('a refusal')
  }
  if (answersToo) {
    const accepted = await atTerminal(args, options, [[question, typed]])
    t.equal(accepted.status, 0, accepted.text)
    t.ok((await contentOf(data)) !== unchanged, `${command} does it after a yes`)
  }

  for (const flags of how === 'mild' ? [['--yes'], []] : [['--yes']]) {
    ;({ args, typed = 'y' } = await make(2 + flags.length))
    const before = await contentOf(data)
    t.match(await run(...args, ...flags), { status: 0 }, `${command} ${flags}`)
    t.ok((await contentOf(data)) !== before, `${command} does it: ${flags.join() || 'in a script'}`)
  }
}

async function openCity(t: Test) {
  const place = await openPlace(t)
  const { id: accountId } = await place.json<{ id: string }>('account', 'create', 'City')
  const store = await openTestStore(t, { dataDir: place.data, slot: 14 })
  const clock = systemClock
  const key = makeApplianceKey(Buffer.alloc(32, 7))
  await addDomain({ store, clock, key }, accountId, 'sender.test', { trust: true })
  const rig = await openCampaigns(t, { store, accountId, clock })
  await rig.addMany(4)
  const file = (name: string, content: string | Buffer) => {
    writeFileSync(join(place.data, '..', name), content)
    return join(place.data, '..', name)
  }
  const id = async (...args: string[]) => (await place.json<{ id: string }>(...args)).id
  const campaign = async () => {
    const made = await rig.create()
    await rig.expand()
    return made.id
  }
  return { ...place, store, rig, file, id, campaign }
}

t.test('accounts, keys, domains, contacts: what is taken away is told first', async (t) => {
  const place = await openCity(t)
  const { id, run, rig, file } = place
  const cases: Case[] = [
    {
      command: 'key delete',
      make: async () => ({ args: ['key', 'delete', await id('key', 'create', 'Shop')] }),
      says: /delete the API key "Shop" \(….{4}\) of "City"\.\s+Requests with it fail from then on.+\.\s+It was never used/,
      counts: { dryRun: true, would: /^delete the API key/, name: 'Shop', isLast: true },
    },
    {
      command: 'operator-key delete',
      make: async () => ({
        args: ['operator-key', 'delete', await id('operator-key', 'create', 'Billing')],
      }),
      says: /delete the operator's key "Billing" \(….{4}\)\.\s+Requests with it fail from then on/,
      counts: { dryRun: true, would: /^delete the operator's key/, name: 'Billing' },
    },
    {
      command: 'key-file rotate',
      make: async () => ({ args: ['key-file', 'rotate'] }),
      says: /replace the appliance key of \S+\.\s+Links in mail that was sent work until [\s\S]+The key is \S+ now/,
      counts: { dryRun: true, would: /^replace the appliance key/, keys: 1, isBrokenOff: false },
    },
    {
      command: 'domain delete',
      make: async (n) => {
        await id('domain', 'add', `d${n}.test`, '--force')
        return { args: ['domain', 'delete', `d${n}.test`], typed: `D${n}.test` }
      },
      says: /delete the domain d1\.test and its 2 DKIM keys\.\s+Nothing can be sent from it/,
      counts: { name: 'd1.test', dkimKeys: 2, automations: [], limitedKeys: 0 },
    },
    {
      command: 'contact delete',
      make: async (n) => {
        await rig.add(`ada${n}@x.test`)
        return { args: ['contact', 'delete', `ada${n}@x.test`], typed: `ada${n}@x.test` }
      },
      says: /delete the contact ada1@x\.test for good\.\s+It is taken off 1 list[\s\S]+Mails to the address stay in the log/,
      counts: { email: 'ada1@x.test', lists: 1, runs: 0 },
    },
    {
      command: 'contact erase',
      make: async (n) => ({
        args: ['contact', 'erase', `eve${n}@x.test`],
        typed: `eve${n}@x.test`,
      }),
      says: /erase all that is known of eve1@x\.test for good\.\s+The contact goes/,
      counts: { address: 'eve1@x.test' },
    },
    {
      command: 'list delete',
      make: async (n) => {
        await id('list', 'create', `Gone ${n}`)
        return { args: ['list', 'delete', `Gone ${n}`], typed: `Gone ${n}` }
      },
      says: /delete the list "Gone 1" for good\.\s+0 contacts are on it/,
      counts: { contacts: 0, onNoOther: 0 },
    },
    {
      command: 'contact bulk',
      make: async () => ({ args: ['contact', 'bulk', 'delete', '--begins', 'nobody'] }),
      says: /delete 0 contacts\.\s+0 contacts fit now/,
      counts: { contacts: 0, exact: true },
    },
    ...(['suspend', 'pause'] as const).map(
      (verb): Case => ({
        command: `account ${verb}`,
        make: async (n) => ({
          args: ['account', verb, await id('account', 'create', `${verb} ${n}`)],
        }),
        says: new RegExp(
          `${verb} the account "${verb} 1"\\.\\s+Its sends are refused\\.\\s+Deliveries that wait until 'posthorn account un${verb}': 0`,
        ),
        counts: { name: `${verb} 1`, waiting: 0 },
      }),
    ),
    {
      command: 'account logo',
      make: async (n) => {
        const account = await id('account', 'create', `logo ${n}`)
        const png = Buffer.from('89504e470d0a1a0a', 'hex')
        await run('account', 'logo', account, file('logo.png', png))
        return { args: ['account', 'logo', account, '--remove'] }
      },
      says: /take the logo away from "logo 1"\.\s+The one it has \(image\/png, 8 bytes\) is not kept/,
      counts: { beforeBytes: 8, thenBytes: null },
    },
  ]
  for (const one of cases) await trial(t, place, { ...one, make: withAccount(one.make) })
})

/** There are several accounts after a while. */
const withAccount =
  (make: Case['make']): Case['make'] =>
  async (n) => {
    const made = await make(n)
    return ['account', 'operator-key', 'key-file'].includes(made.args[0] ?? '')
      ? made
      : { ...made, args: [...made.args, '--account', 'City'] }
  }

t.test('templates, webhooks, suppressions, reports, mails to the postmaster', async (t) => {
  const place = await openCity(t)
  const { id, run, file, store } = place
  const html = file('a.html', '<p>x</p>')
  const hook = (n: number) => id('webhook', 'add', `https://app.example.com/${n}`)
  let serial = 1
  const cases: Case[] = [
    {
      command: 'template delete',
      make: async (n) => {
        await run('template', 'put', `t${n}`, '--html', html, '--subject', 'One')
        await run('template', 'put', `t${n}`, '--subject', 'Two')
        return { args: ['template', 'delete', `t${n}`] }
      },
      says: /delete the template t1 and its 2 versions\.\s+Sends that name it are refused/,
      counts: { slug: 't1', versions: 2 },
    },
    {
      command: 'webhook rotate',
      make: async (n) => ({ args: ['webhook', 'rotate', await hook(n)] }),
      says: /make a new secret for https:\/\/app\.example\.com\/1\.\s+The old one signs too until [^,]+,\s+and is void then/,
      counts: { overlapMs: 86_400_000 },
    },
    {
      command: 'webhook delete',
      make: async (n) => ({ args: ['webhook', 'delete', await hook(n)] }),
      says: /delete the webhook https:\/\/app\.example\.com\/1\.\s+Requests that wait and are then not sent: 0/,
      counts: { waiting: 0, kept: 0 },
    },
    {
      command: 'suppression remove',
      make: async (n) => {
        await run('suppression', 'add', `s${n}@x.test`, '--reason', 'bounce')
        return { args: ['suppression', 'remove', `s${n}@x.test`] }
      },
      says: /let 1 address be mailed again\.\s+s1@x\.test: bounce, 20/,
      counts: { records: [{ email: 's1@x.test', reason: 'bounce' }] },
    },
    {
      command: 'suppression import',
      make: async (n) => ({
        args: ['suppression', 'import', file(`${n}.csv`, `email\na${n}@x.test\nb${n}@x.test\n`)],
      }),
      says: /suppress 2 addresses in "City"\.\s+Lines that are known already: 0; that cannot be read: 0/,
      counts: { added: 2, known: 0, faults: 0 },
    },
    {
      command: 'bounce discard',
      make: async () => {
        const report = serial++
        const given = { due_at: 0, remote_address: '192.0.2.1', tries: 0, mail_from: '', helo: '' }
        await store.write(async (tx) => {
          await tx
            .insertInto('inbound_spool')
            .values({
              id: report,
              received_at: 0,
              recipients: '[]',
              raw: Buffer.from('x'),
              ...given,
            })
            .execute()
          await parkReport(tx, report, { fault: 'it is broken', now: 1 })
        })
        return { args: ['bounce', 'discard', String(report)] }
      },
      says: /discard 1 report\.\s+No bounce or complaint follows from them/,
      counts: { reports: [{ fault: 'it is broken' }] },
    },
    {
      command: 'postmaster delete',
      make: async () => {
        const mail = serial++
        const text = { recipient: 'postmaster@x', mail_from: 'a@b.test', header_from: 'Ada' }
        await store.write(async (tx) => {
          const row = { ...text, subject: 'Hi\u001b[2J', remote_address: '192.0.2.1' }
          await tx
            .insertInto('operator_mails')
            .values({ ...row, id: mail, received_at: 0, size_bytes: 1, to_forward: 0 })
            .execute()
          const raw = Buffer.from('Subject: Hi\n\nx')
          await tx.insertInto('operator_mail_sources').values({ id: mail, raw }).execute()
        })
        return { args: ['postmaster', 'delete', String(mail)] }
      },
      says: /delete 1 mail to this host's postmaster\.\s+\d+, from Ada: Hi\\u001b\[2J/,
      counts: { mails: [{ subject: /^Hi/ }] },
    },
  ]
  for (const one of cases) await trial(t, place, one)
})

t.test('campaigns and the queue: how many mails it is about', async (t) => {
  const place = await openCity(t)
  const { run, rig, campaign } = place
  const cases: Case[] = [
    {
      command: 'broadcast send',
      make: async () => ({
        args: ['broadcast', 'send', (await rig.create({}, { draft: true })).id],
      }),
      says: /send "News" to 4 recipients, now\.\s+What has left cannot be taken back/,
      counts: { subject: 'News', recipients: 4, scheduledAt: null },
    },
    {
      command: 'broadcast cancel',
      make: async () => ({ args: ['broadcast', 'cancel', await campaign()] }),
      says: /end the campaign "News"\.\s+Mails that wait and will never leave: 4\.\s+Mails that are not made yet and never will be: 0/,
      counts: { waiting: 4, unmade: 0 },
    },
    {
      command: 'queue hold',
      make: async () => ({ args: ['queue', 'hold', '--campaign', await campaign()] }),
      says: /hold 4 deliveries\.\s+They wait until 'posthorn queue release'/,
      counts: { deliveries: 4, inFlight: 0, classes: { campaign: 4 } },
    },
    {
      command: 'queue release',
      make: async () => {
        const id = await campaign()
        await run('queue', 'hold', '--campaign', id)
        return { args: ['queue', 'release', '--campaign', id] }
      },
      says: /release 4 deliveries\.\s+They leave as mail/,
      counts: { deliveries: 4 },
    },
    {
      command: 'queue fail',
      make: async () => ({
        args: ['queue', 'fail', '--campaign', await campaign(), '--reason', 'gone'],
      }),
      says: /fail 4 deliveries\.\s+They are never sent, and their senders are told so/,
      counts: { deliveries: 4 },
    },
  ]
  for (const one of cases) await trial(t, place, one)
  const named = await run('queue', 'list', '--limit', '1', '--json')
  const [{ id }] = JSON.parse(named.stdout)
  const options = { env: { POSTHORN_DATA: place.data, ...databaseSettings(place.data) } }
  const held = await atTerminal(['queue', 'hold', String(id)], options, [])
  t.match(held, { status: 0, text: /^1 delivery is held/ }, 'what is named is not asked for')
  const gone = await run('queue', 'fail', '--domain', 'nobody.test', '--reason', 'x')
  t.match(gone, { status: 0, stdout: 'No waiting delivery matches\n' })
})

t.test('automations: how many runs it is about', async (t) => {
  const place = await openPlace(t)
  const { id: accountId } = await place.json<{ id: string }>('account', 'create', 'City')
  const clock = new FakeClock(Date.now())
  const store = await openTestStore(t, { dataDir: place.data, slot: 14, clock })
  const rig = await openEngine(t, { clock, store, accountId })
  const steps = (n: number) => [trigger(`e${n}`), delay('first', 'P1D')]
  let made = 0
  const live = async () => {
    made++
    const id = await rig.enabled(steps(made), {}, `A${made}`)
    await rig.start({ event: `e${made}` })
    return id
  }
  const cases: Case[] = [
    {
      command: 'automation archive',
      make: async () => ({ args: ['automation', 'archive', await live()] }),
      says: /end the automation "A1" for good\.\s+Runs that are cancelled where they are: 1/,
      counts: { runs: 1 },
    },
    {
      command: 'automation resume',
      make: async () => {
        const id = await live()
        await place.run('automation', 'pause', id)
        return { args: ['automation', 'resume', id, '--overdue', 'skip'] }
      },
      says: /let "A\d" go on, and pass over the mails that are overdue\.\s+It has 1 run under way/,
      counts: { overdue: 'skip', runs: 1 },
    },
    {
      command: 'automation move',
      make: async () => {
        const id = await live()
        await rig.revise(id, steps(made))
        return { args: ['automation', 'move', id, '--to', '2'] }
      },
      // Its --dry-run is a table.
      says: /move 1 run of "A\d+" to version 2\.\s+Runs of older versions that stay, as --dry-run explains: 0|\n1 +start +trigger +1 +yes/,
      counts: { version: 2, moved: null, groups: [{ runs: 1 }] },
    },
    {
      command: 'automation start',
      make: async () => {
        const id = await live()
        await rig.add(`bob${made}@example.com`)
        return { args: ['automation', 'start', id, '--list', rig.listId] }
      },
      says: /start \d runs? (of "A\d+", at most 1,000 runs an hour\.\s+What they mail|for \d contacts?, at once)/,
      counts: { perHour: 1_000, begun: false },
    },
  ]
  for (const one of cases) await trial(t, place, one)
})

// Over PostgreSQL a backup has no database: app/restore.
t.test('restore says what is in the backup, and what is replaced', aboutSqlite, async (t) => {
  const place = await openPlace(t)
  const other = await openPlace(t)
  const { file } = await place.json<{ file: string }>('backup', join(place.data, '..'))
  await trial(
    t,
    place,
    {
      command: 'restore',
      make: async (n) => {
        await other.json('account', 'create', `after ${n}`)
        return { args: ['restore', file, '--to', other.data] }
      },
      says: /put the backup into \S+\.\s+(It was made 20.+\.\s+)?The database that is there \(.+, written 20.+\) is replaced/,
      counts: { dataDir: other.data, madeAt: /^20/, rows: {} },
    },
    other.data,
  )
})

t.test('Ctrl-C at a question changes nothing, and is told', async (t) => {
  const { data, json } = await openPlace(t)
  await json('account', 'create', 'City')
  const { id } = await json<{ id: string }>('key', 'create', 'Shop')
  const before = await contentOf(data)
  const options = { env: { POSTHORN_DATA: data, ...databaseSettings(data) } }
  const left = await atTerminal(['key', 'delete', id], options, [[/\[y\/N\] $/, ctrlC]])
  t.match(left, { status: 130, text: /\nNothing was changed\n$/ })
  t.ok((await contentOf(data)) === before)
  t.match(await json('key', 'list'), { keys: [{ id }] })
})
