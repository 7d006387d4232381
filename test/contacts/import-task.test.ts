// Imports that are tasks: over a real database, with the importer's work in this thread.
import { readdirSync } from 'node:fs'
import t, { type Test } from 'tap'
import { createAccount } from '../../src/accounts/index.js'
import { loadPlans } from '../../src/billing/index.js'
import { systemClock as clock, pause } from '../../src/clock/index.js'
import { recordConsent } from '../../src/consent/index.js'
import { filesKept } from '../../src/contacts/import-task/files.js'
import {
  addContact,
  contactHistory,
  contactTotal,
  createList,
  deleteList,
  findContact,
  findImport,
  goneNames,
  type ImportOrder,
  type ImportTask,
  importContacts,
  listLists,
  listMembers,
  makeImportTasks,
  noMailCsv,
  refusedCsv,
} from '../../src/contacts/index.js'
import { silentLog } from '../../src/log/index.js'
import { becomeNode, makeTurns } from '../../src/store/index.js'
import { eraseSuppressions, suppress, suppressionsOf } from '../../src/suppression/index.js'
import { createTask, listTasks } from '../../src/tasks/index.js'
import { createTopic, optOut } from '../../src/topics/index.js'
import { makeTempDir, openTestStore } from '../support/store.js'

async function open(t: Test) {
  const dataDir = makeTempDir(t)
  const store = await openTestStore(t, { dataDir })
  const { id: accountId } = await createAccount({ store, clock }, 'One')
  const list = await createList({ store, clock }, accountId, 'Readers')
  const start = (more: Partial<Parameters<typeof makeImportTasks>[0]> = {}) =>
    makeImportTasks({
      sharesFiles: false,
      store,
      clock,
      dataDir,
      plans: loadPlans('config/plans.toml'),
      log: silentLog,
      defaultCountry: 'NG',
      checkRoom: async () => {},
      importer: {
        run: (account, file, options) => importContacts({ store, clock }, account, file, options),
        close: async () => {},
      },
      ...more,
    })
  const task = (id: number) => findImport(store.read, accountId, id)
  return {
    store,
    accountId,
    dataDir,
    list,
    start,
    task,
    keep: (imports: ReturnType<typeof start>, text: string | Buffer) =>
      imports.keep(accountId, { filename: 'people.csv', pieces: inPieces(text), startedBy: 'u' }),
    order: async (
      imports: ReturnType<typeof start>,
      id: number,
      more: Partial<ImportOrder> = {},
    ) => {
      const { mapping } = await imports.glance(await task(id))
      const usual = { known: 'fill', agreed: 'at the till', trigger: false } as const
      await imports.check(accountId, id, more.mapping ?? mapping)
      await imports.begin(accountId, id, { listId: list.id, mapping, ...usual, ...more })
    },
    async until(id: number, isSo: (task: ImportTask) => boolean) {
      for (;;) {
        const found = await task(id)
        if (isSo(found)) return found
        await pause(clock, 5)
      }
    },
    /** Which files there are, soon: one goes behind the end of its import. */
    async files(ids: number[]) {
      const wanted = JSON.stringify(ids.sort())
      while (JSON.stringify((await filesKept(dataDir)).sort()) !== wanted) await pause(clock, 5)
    },
    people: async () =>
      (await listMembers(store.read, accountId, list.id, { limit: 500 })).members.map(
        ({ email, firstName, metadata }) => [email, firstName, metadata],
      ),
    async csv(id: number) {
      let text = ''
      for await (const piece of refusedCsv(store.read, id)) text += piece
      return text
    },
  }
}

async function* inPieces(text: string | Buffer) {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += 50_000) yield bytes.subarray(at, at + 50_000)
}

const never = new AbortController().signal

const createIn = (
  { store, accountId }: Awaited<ReturnType<typeof open>>,
  state: 'arriving',
): Promise<number> =>
  store.write((tx) =>
    createTask(
      tx,
      { accountId, kind: 'import', state, total: 0, detail: { bytes: 0 }, startedBy: 'u' },
      clock.now(),
    ),
  )

const isOver = ({ state }: ImportTask) => ['done', 'failed', 'undone'].includes(state)

t.test('of several nodes another one goes on with the import of one that is gone', async (t) => {
  const site = await open(t)
  const lines = Array.from({ length: 200_000 }, (_, n) => `p${n}@x.test\n`)
  const other = makeTempDir(t)
  const turns = makeTurns()
  becomeNode(turns, { number: 2, epoch: 0 })
  const store = await openTestStore(t, { dataDir: site.dataDir, turns })
  const pieces = async () =>
    (await site.store.read.selectFrom('import_pieces').select('task_id').execute()).length
  const first = site.start({
    sharesFiles: true,
    // Killed, once it has begun.
    importer: { run: () => new Promise(() => {}), close: async () => {} },
  })
  let came = 0
  const second = site.start({
    sharesFiles: true,
    store,
    dataDir: other,
    importer: {
      async run(account, file, { task, listId }) {
        for await (const piece of file) came += piece.length
        t.match([account, task, listId], [site.accountId, { id, after: 0 }, site.list.id])
        return {
          imported: 0,
          skipped: 0,
          invalid: 0,
          suppressed: 0,
          noMail: { unsubscribed: 0, bounced: 0, complained: 0, suppressed: 0, erased: 0 },
          unreadPhones: 0,
          refused: [],
          columns: [],
        }
      },
      close: async () => {},
    },
  })
  const id = await site.keep(first, `email\n${lines.join('')}`)
  t.ok((await pieces()) > 1)
  const { rows } = await second.glance(await site.task(id))
  t.same(rows.slice(0, 2), [['email'], ['p0@x.test']], 'its columns are chosen at any node')
  await site.order(first, id)
  await second.resume(never)
  t.match(await site.task(id), { state: 'running', node: 1 }, 'who lives goes on itself')
  await second.adopt(1)
  t.match(await site.until(id, isOver), { state: 'done', node: 2 })
  t.equal(came, 6 + lines.join('').length)
  // Behind its end.
  while ((await pieces()) + (await filesKept(other)).length > 0) await pause(clock, 5)
  await site.start().resume(never)
  t.same(await filesKept(site.dataDir), [], 'who was gone finds that nobody wants its file')

  const cutOff = await createIn(site, 'arriving')
  await second.adopt(1)
  await second.resume(never)
  await t.rejects(site.task(cutOff), /no task with this number/, 'what never came')
  await second.close()
})

t.test('a file of a spreadsheet of old is guessed, imported and undone', async (t) => {
  const site = await open(t)
  const imports = site.start()
  const ann = { email: 'ann@x.test', firstName: 'Anne', metadata: { Ort: 'Graz' } }
  await addContact({ store: site.store, clock }, site.accountId, ann)
  const text =
    'E-Mail;Vorname;Ort;Punkte;Abgemeldet\r\nann@x.test;Ann;Wien;7;\r\nbjörn@x.test;Björn;Köln;8;\r\nbob@x.test;Bob;Köln;1,5;ja\r\nnobody;;;;\r\ncleo@x.test;Cleo;;viele;\r\n'
  const id = await site.keep(imports, Buffer.from(text, 'latin1'))
  const { mapping, rows } = await imports.glance(await site.task(id))
  t.match(mapping, { encoding: 'windows-1252', delimiter: ';', hasHeader: true })
  t.same(
    mapping.columns.map(({ use }) => use),
    ['email', 'firstName', 'text', 'text', 'unsubscribe'],
  )
  t.equal(rows[2]?.[2], 'Köln')
  const columns = mapping.columns.map((one, at) =>
    at === 3 ? { ...one, use: 'number' as const } : one,
  )
  await site.order(imports, id, { mapping: { ...mapping, columns } })
  const done = await site.until(id, isOver)
  t.match(done, { state: 'done', done: 6, total: 6 })
  t.match(done.result, { imported: 3, skipped: 0, invalid: 2, suppressed: 1 })
  const people = await site.people()
  t.same(
    people.find(([email]) => email === 'ann@x.test')?.slice(1),
    ['Anne', { Ort: 'Graz', Punkte: 7 }],
    'gaps are filled, and what is known stays',
  )
  t.same(people.find(([email]) => email === 'bob@x.test')?.[2], { Ort: 'Köln', Punkte: 1.5 })
  t.match(await suppressionsOf(site.store.read, site.accountId, 'bob@x.test'), [
    { reason: 'unsubscribe' },
  ])
  const refused = await site.csv(id)
  t.match(refused, /^line,reason,row\r?\n5,.*nobody.*\n6,.*viele.*no number.*cleo@x\.test,Cleo/s)
  const [event] = await contactHistory(site.store.read, site.accountId, 'bob@x.test')
  t.match(event, { kind: 'imported', detail: { file: 'people.csv', line: 4, note: 'at the till' } })
  await site.files([])

  await imports.undo(site.accountId, id)
  const undone = await site.until(id, isOver)
  t.match(undone, { state: 'undone', result: { undone: 3 } })
  t.same(await site.people(), [])
  t.ok(await findContact(site.store.read, site.accountId, 'ann@x.test'), 'who was known stays')
  t.notOk(await findContact(site.store.read, site.accountId, 'bob@x.test'))
  t.equal((await suppressionsOf(site.store.read, site.accountId, 'bob@x.test')).length, 1)
  t.equal(await contactTotal(site.store.read, site.accountId), 1)
  await t.rejects(imports.undo(site.accountId, id), { code: 'conflict' })
  await imports.close()
})

t.test('columns of MailerLite and listmonk are what they are there', async (t) => {
  const site = await open(t)
  const imports = site.start()
  const lite = await site.keep(
    imports,
    'Subscriber,Status,Name,Last name,City,State\nmax@x.test,Active,Max,Mint,Lagos,Baja\n',
  )
  const { mapping } = await imports.glance(await site.task(lite))
  t.same(
    mapping.columns.map(({ use }) => use),
    ['email', 'status', 'firstName', 'lastName', 'text', 'text'],
  )
  const monk = await site.keep(
    imports,
    'email,name,attributes,status\nlia@x.test,Lia Lund,"{""city"":""Oslo"",""age"":33}",enabled\nlou@x.test,Lou,none,enabled\n',
  )
  const other = await imports.glance(await site.task(monk))
  t.same(
    other.mapping.columns.map(({ use }) => use),
    ['email', 'name', 'fields', 'status'],
  )
  await site.order(imports, monk)
  t.match(await site.until(monk, isOver), { state: 'done', result: { imported: 2 } })
  const people = await site.people()
  t.same(people.find(([email]) => email === 'lia@x.test')?.slice(1), [
    'Lia',
    { city: 'Oslo', age: 33 },
  ])
  t.same(people.find(([email]) => email === 'lou@x.test')?.[2], { attributes: 'none' })
  await imports.close()
})

t.test('what is known is overwritten or left, as somebody says', async (t) => {
  const site = await open(t)
  const imports = site.start()
  const rows = 'email,firstName,town\nann@x.test,Ann,Lagos\nbob@x.test,Bob,Jos\n'
  const first = await site.keep(imports, rows)
  await site.order(imports, first)
  await site.until(first, isOver)
  const other = 'email,firstName,town\nann@x.test,Anna,Abuja\n'
  for (const [known, name] of [
    ['leave', 'Ann'],
    ['fill', 'Ann'],
    ['overwrite', 'Anna'],
  ] as const) {
    const id = await site.keep(imports, other)
    await site.order(imports, id, { known })
    t.match((await site.until(id, isOver)).result, { imported: 0, skipped: 1 })
    t.equal(
      (await findContact(site.store.read, site.accountId, 'ann@x.test'))?.firstName,
      name,
      known,
    )
  }
  await imports.close()
})

t.test('of twin rows the last one counts where the file overwrites', async (t) => {
  const site = await open(t)
  const imports = site.start()
  const twins =
    'email,firstName,town,size\nann@x.test,Ann,Lagos,4\nbob@x.test,Bob,Jos,\nANN@x.test,Anna,Abuja,\n'
  for (const [known, row] of [
    ['overwrite', ['Anna', { town: 'Abuja', size: '4' }]],
    ['fill', ['Ann', { town: 'Lagos', size: '4' }]],
    ['leave', ['Ann', { town: 'Lagos', size: '4' }]],
  ] as const) {
    const id = await site.keep(imports, twins)
    await site.order(imports, id, { known })
    t.match((await site.until(id, isOver)).result, { imported: 2, skipped: 1 }, known)
    const ann = (await site.people()).find(([email]) => email === 'ann@x.test')
    t.same(ann?.slice(1), row, known)
    await imports.undo(site.accountId, id)
    await site.until(id, isOver)
    t.same(await site.people(), [], 'its own rows are no changes of others')
  }
  await imports.close()
})

t.test('it says who of it gets no mail, and its list stays while it lasts', async (t) => {
  const site = await open(t)
  const { store, accountId, list } = site
  const known = { unsubscribe: ['u1', 'u2'], bounce: ['b1'], manual: ['h1'], complaint: ['u2'] }
  for (const [reason, names] of Object.entries(known)) {
    for (const name of names) {
      const record = { email: `${name}@x.test`, reason: reason as keyof typeof known }
      await store.write((tx) => suppress(tx, accountId, record, clock.now()))
    }
  }
  await store.write((tx) => eraseSuppressions(tx, accountId, 'e1@x.test', clock.now()))
  const imports = site.start()
  const crowd = Array.from({ length: 900 }, (_, n) => `r${n}@x.test,`)
  const rows = [
    'u1@x.test,',
    'e1@x.test,',
    ...crowd,
    'U2@x.test,',
    'b1@x.test,',
    'h1@x.test,',
    'l1@x.test,yes',
  ]
  const id = await site.keep(imports, `email,unsubscribed\n${rows.join('\n')}\n`)
  await site.order(imports, id)
  await site.until(id, ({ done }) => done > 200)
  // As a stop does it: what was counted is not counted again.
  await imports.change(accountId, id, 'paused')
  await t.rejects(deleteList({ store, clock }, accountId, list.id), {
    code: 'conflict',
    message: /An import onto this list is paused \(“people.csv”\)/,
  })
  await imports.change(accountId, id, 'running')
  const { result } = await site.until(id, isOver)
  t.same(result.noMail, { unsubscribed: 2, bounced: 1, complained: 1, suppressed: 1, erased: 1 })
  let csv = ''
  const of = { accountId, listId: list.id, importId: result.importId ?? 0 }
  for await (const piece of noMailCsv(store.read, of)) csv += piece
  t.same(csv.trim().split(/\r?\n/).sort(), [
    'U2@x.test,complained,904',
    'b1@x.test,bounced,905',
    'e1@x.test,erased on request,3',
    'email,reason,line',
    'h1@x.test,suppressed by hand,906',
    'l1@x.test,unsubscribed,907',
    'u1@x.test,unsubscribed,2',
  ])
  await deleteList({ store, clock }, accountId, list.id)
  t.same([...(await goneNames(store.read, accountId, [list.id])).values()], ['Readers'])
})

t.test('undoing an import leaves whom somebody has changed since', async (t) => {
  const site = await open(t)
  const imports = site.start()
  const id = await site.keep(imports, 'email,firstName\nann@x.test,Ann\nbob@x.test,Bob\n')
  await site.order(imports, id)
  await site.until(id, isOver)
  await pause(clock, 5)
  const given = { email: 'ann@x.test', firstName: 'Anna' }
  await addContact({ store: site.store, clock }, site.accountId, given)
  await imports.undo(site.accountId, id)
  t.match((await site.until(id, isOver)).result, { undone: 1, kept: 1 })
  t.match(await site.people(), [['ann@x.test', 'Anna']])
  await imports.close()
})

t.test(
  'undoing leaves who has agreed or chosen topics since, whatever the clock said',
  async (t) => {
    const site = await open(t)
    const { store, accountId, list } = site
    const imports = site.start()
    const names = ['conny', 'twice', 'picky', 'early', 'other', 'gone']
    await store.write((tx) =>
      recordConsent(tx, accountId, 'gone@x.test', {
        at: clock.now(),
        kind: 'confirmed',
        detail: {},
      }),
    )
    const id = await site.keep(imports, `email\n${names.map((one) => `${one}@x.test\n`).join('')}`)
    await site.order(imports, id)
    await site.until(id, isOver)
    // The clock has been set back since: what came later has an earlier time.
    const before = clock.now() - 3_600_000
    const past = { ...clock, now: () => before }
    const { id: topicId } = await createTopic({ store, clock }, accountId, { name: 'Offers' })
    await store.write(async (tx) => {
      const confirmed = { at: before, kind: 'confirmed', detail: { by: 'recipient' } } as const
      await recordConsent(tx, accountId, 'conny@x.test', confirmed)
      await optOut(tx, accountId, { topicId, address: 'picky@x.test' }, before)
    })
    const listId = list.id
    const twice = { email: 'twice@x.test' }
    await addContact({ store, clock: past }, accountId, twice, { listId, note: 'At our stall' })
    const early = { email: 'early@x.test', firstName: 'Early' }
    await addContact({ store, clock: past }, accountId, early)
    const { id: elsewhere } = await createList({ store, clock }, accountId, 'Elsewhere')
    await addContact({ store, clock }, accountId, { email: 'other@x.test' }, { listId: elsewhere })
    await imports.undo(accountId, id)
    t.match((await site.until(id, isOver)).result, { undone: 2, kept: 4 })
    const left = (await site.people()).map(([email]) => email).sort()
    t.same(left, ['conny@x.test', 'early@x.test', 'picky@x.test', 'twice@x.test'])
    t.ok(
      await findContact(store.read, accountId, 'other@x.test'),
      'who is on another list stays there',
    )
    t.notOk(await findContact(store.read, accountId, 'gone@x.test'), 'what was before is no reason')
    await imports.close()
  },
)

t.test('it pauses, goes on after a stop of the appliance, and counts nobody twice', async (t) => {
  const site = await open(t)
  let imports = site.start()
  const rows = Array.from({ length: 12_000 }, (_, n) =>
    n % 100 === 7 ? `wrong${n}` : `r${n}@x.test`,
  )
  // Far longer than what is read ahead.
  const note = 'x'.repeat(300)
  const id = await site.keep(
    imports,
    `email,note\n${rows.map((one) => `${one},${note}\n`).join('')}`,
  )
  await site.order(imports, id)
  await t.rejects(
    site.keep(imports, 'email\na@b.test\n').then((other) => site.order(imports, other)),
    {
      code: 'conflict',
      message: /Another import/,
    },
  )
  for (const share of [0.2, 0.4, 0.6]) {
    await site.until(id, ({ done, total }) => done > share * total)
    await imports.change(site.accountId, id, 'paused')
    const { done } = await site.task(id)
    await pause(clock, 80)
    t.ok((await site.task(id)).done - done <= 400, 'at most what was under way')
    if (share === 0.4) {
      await imports.close()
      imports = site.start()
      await imports.resume(never)
      t.equal((await site.task(id)).state, 'paused', 'a paused one stays so')
    }
    await imports.change(site.accountId, id, 'running')
  }
  await site.until(id, ({ done, total }) => done > 0.8 * total)
  await imports.close()
  t.equal((await site.task(id)).state, 'running')
  imports = site.start()
  await imports.resume(never)
  const over = await site.until(id, isOver)
  t.match(over, { state: 'done', result: { imported: 11_880, skipped: 0, invalid: 120 } })
  t.equal((await site.csv(id)).split('\n').filter((one) => one !== '').length, 121)
  t.match(await listLists(site.store.read, site.accountId), [{ contactCount: 11_880 }])
  await imports.close()
})

t.test(
  'one that finds no room left is paused with its file, and goes on once there is some',
  async (t) => {
    const site = await open(t)
    const { store } = site
    let ceiling = 150
    const imports = site.start({
      importer: {
        run: (account, file, options) =>
          importContacts({ store, clock }, account, file, { ...options, ceiling }),
        close: async () => {},
      },
    })
    const rows = Array.from(
      { length: 400 },
      (_, n) => `r${n}@x.test,${n % 100 === 99 ? 'yes' : ''}`,
    )
    rows.splice(160, 0, 'nobody,')
    const id = await site.keep(imports, `email,unsubscribed\n${rows.join('\n')}\n`)
    await site.order(imports, id)
    const full = await site.until(id, ({ state }) => state !== 'running')
    t.match(full, { state: 'paused', done: 151, endedAt: null })
    t.match(full.result, { imported: 150, invalid: 0, reason: /^There is no room for more/ })
    t.same(await filesKept(site.dataDir), [id], 'the file stays')
    await imports.change(site.accountId, id, 'running')
    t.match(await site.until(id, ({ state }) => state !== 'running'), {
      state: 'paused',
      done: 151,
    })
    ceiling = 1_000
    await imports.change(site.accountId, id, 'running')
    const over = await site.until(id, isOver)
    t.match(over, {
      state: 'done',
      result: { imported: 400, skipped: 0, invalid: 1, suppressed: 4 },
    })
    t.notOk(over.result.reason)
  },
)

t.test('one is stopped; a broken one says why; drafts and files do not pile up', async (t) => {
  const site = await open(t)
  const imports = site.start()
  const rows = Array.from({ length: 8_000 }, (_, n) => `r${n}@x.test`)
  const id = await site.keep(imports, `email\n${rows.join('\n')}`)
  await site.order(imports, id)
  await site.until(id, ({ done }) => done > 1_000)
  await imports.change(site.accountId, id, 'stopped')
  await pause(clock, 200)
  const { result, done } = await site.task(id)
  t.equal(result.imported, done - 1, 'whom it has put on the list is counted')
  t.match(await listLists(site.store.read, site.accountId), [{ contactCount: result.imported }])
  const broken = await site.keep(
    imports,
    `email\n${rows.slice(0, 300).join('\n')}\n"never closed\n`,
  )
  await site.order(imports, broken)
  const failed = await site.until(broken, isOver)
  t.match(failed, { state: 'failed', result: { reason: /^Line 302: a quote is not closed/ } })
  await t.rejects(site.keep(imports, ''), { message: 'The file is empty' })
  await t.rejects(
    site.keep(imports, 'a,b\n1,2\n').then((none) => site.order(imports, none)),
    {
      message: 'Say which column is the address',
    },
  )
  const twins = await site.keep(imports, 'Email,Note,Note,Unsubscribed\nann@x.test,a,b,yes\n')
  const { mapping } = await imports.glance(await site.task(twins))
  t.same(
    mapping.columns.map(({ use }) => use),
    ['email', 'text', 'nothing', 'unsubscribe'],
    'of two alike the first is taken',
  )
  const strange = 'Adresse de courriel (principale);Prénom;Last name;Handy;Ville;Désabonné\n'
  const named = await site.keep(imports, `${strange}ann@x.test;Ann;Lee;0611;Paris;\n`)
  t.same(
    (await imports.glance(await site.task(named))).mapping.columns.map(({ use }) => use),
    ['email', 'firstName', 'lastName', 'phone', 'text', 'unsubscribe'],
    'each column by its own name, whatever that of the address is called',
  )
  const openFiles = () => readdirSync('/proc/self/fd').length
  const long = await site.keep(imports, `email,town\n${'ann@x.test,Lagos\n'.repeat(20_000)}`)
  const before = openFiles()
  for (let n = 0; n < 20; n++) await imports.glance(await site.task(long))
  await pause(clock, 50)
  t.ok(openFiles() < before + 10, 'who looks leaves no file open')
  // As a kill in the middle of an upload leaves it.
  const cutOff = { accountId: site.accountId, kind: 'import', state: 'arriving', total: 0 } as const
  const detail = { filename: 'x', bytes: 0 }
  await site.store.write((tx) => createTask(tx, { ...cutOff, detail, startedBy: 'u' }, clock.now()))
  await imports.resume(never)
  const states = (await listTasks(site.store.read, site.accountId, 'import', 50)).map(
    ({ state }) => state,
  )
  t.notOk(states.includes('arriving'), 'a file that was cut off is no draft')
  // Whoever is choosing columns keeps their file.
  const others = async () => {
    for (;;) await site.keep(imports, 'email\n')
  }
  await t.rejects(others(), { message: /^Other files of the account wait to be imported/ })
  const drafts = (await listTasks(site.store.read, site.accountId, 'import', 50)).filter(
    ({ state }) => state === 'draft',
  )
  t.equal(drafts.length, 20)
  t.ok(drafts.some((one) => one.id === long))
  await site.files(drafts.map((one) => one.id))
  await imports.close()
})
