import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openTestStore } from '../support/store.js'
import { openPlace } from './place.js'

interface Standing {
  name: string
  plan: { name: string; monthlyLimit: number | null }
  marketingPlan: { name: string } | null
  state: string
  suspended: string | null
}

// On a machine that may have other work.
t.setTimeout(300_000)

t.test('plans are listed, and an own file of them is checked', async (t) => {
  const { run, json, refused, data } = await openPlace(t)
  const { stdout } = await run('plan', 'list')
  t.match(
    stdout,
    /^NAME +MAILS A MONTH +A DAY +AN HOUR +A MINUTE +IN A DAY +IN AN HOUR +EACH IN +DOMAINS +WEBHOOKS +LOG KEPT +₦ A MONTH +ID$/m,
  )
  t.match(
    stdout,
    /^Starter +50,000 +1,666 +- +- +2,000 +- +20 MiB +5 +no +14 days +15,000 +019a9b10-/m,
  )
  t.match(
    stdout,
    /^Unlimited +unlimited +- +- +- +unlimited +- +20 MiB +unlimited +yes +90 days +0 +019a9b10-/m,
  )
  t.match(stdout, /^Marketing Free +500 +2,000 +0 +019a9b10-/m)
  t.match(stdout, 'By default the first account has Unlimited, others Free.')
  const listed = await json<{ file: string; email: unknown[] }>('plan', 'list')
  t.match(listed.file, /config\/plans\.toml$/)
  t.equal(listed.email.length, 5)

  const own = join(data, 'plans.toml')
  const installed = readFileSync('config/plans.toml', 'utf8')
  writeFileSync(own, installed.replace('retention_days = 7', 'retention_days = 8'))
  t.match((await run('plan', 'list')).stdout, '8 days')
  t.match(await run('config', 'check'), { status: 0, stdout: `${own} is good` })
  writeFileSync(own, installed.replace('retention_days = 7', 'retention_days = -7'))
  const problem = /Bad plans .*\n {2}plan "Free": retention_days: -7 given, expected a whole number/
  await refused(problem, 'config', 'check')
  await refused(problem, 'plan', 'list')
})

t.test('limits of an hour and a minute are shown with what is used of them', async (t) => {
  const { run, json, data } = await openPlace(t)
  const installed = readFileSync('config/plans.toml', 'utf8')
  const limits = 'name = "Growth"\nper_hour = 2_000\nper_minute = 80'
  writeFileSync(join(data, 'plans.toml'), installed.replace('name = "Growth"', limits))
  const { id } = await json<{ id: string }>('account', 'create', 'City')
  t.notMatch((await run('account', 'billing', 'City')).stdout, /This hour|This minute/)
  const store = await openTestStore(t, { dataDir: data, slot: 14 })
  const now = Date.now()
  // Two minutes each, as the next one may begin before the command looks.
  const rows = [3_600_000, 60_000].flatMap((span) =>
    [0, span].map((later) => ({
      holder: id,
      span,
      at: now - (now % span) + later,
      mails: span / 60_000,
      fresh: null,
    })),
  )
  await store.write((tx) => tx.insertInto('handed_in').values(rows).execute())
  t.match(
    (await run('account', 'set-plan', 'City', 'Growth')).stdout,
    /\nThis hour +60 of 2,000\nThis minute +1 of 80\n/,
  )
  t.match(await json('account', 'billing', 'City'), { usage: { hourMails: 60, minuteMails: 1 } })
})

t.test('what an account may send is set and shown', async (t) => {
  const { run, json, refused } = await openPlace(t)
  await json('account', 'create', 'City')
  await json('account', 'create', 'Shop')
  const first = await json<Standing>('account', 'billing', 'City')
  t.match(first, { plan: { name: 'Unlimited' }, marketingPlan: null, state: 'active' })
  t.match(await json('account', 'billing', 'Shop'), { plan: { name: 'Free' } })

  t.match(await json('account', 'set-plan', 'Shop', 'growth'), { plan: { name: 'Growth' } })
  const marketing = ['account', 'set-marketing-plan', 'Shop']
  t.match(await json(...marketing, 'Marketing Plus'), { marketingPlan: { name: 'Marketing Plus' } })
  t.match(await json('account', 'set-billing-state', 'Shop', 'past_due'), { state: 'past_due' })
  const suspended = await run('account', 'suspend', 'Shop', '--reason', 'spam, ticket 7')
  t.match(suspended.stdout, /^Plan +Growth\nThis month +0 of 200,000\nToday +0\nMark/m)
  t.match(suspended.stdout, /^Suspended +spam, ticket 7$[\s\S]*^It sends nothing\.$/m)
  t.match(await json('account', 'billing', 'Shop'), {
    plan: { name: 'Growth' },
    marketingPlan: { name: 'Marketing Plus' },
    state: 'past_due',
    suspended: 'spam, ticket 7',
    usage: { monthMails: 0 },
  })
  t.match(await json('account', 'unsuspend', 'Shop'), { suspended: null })
  t.match(await json(...marketing, 'none'), { marketingPlan: null })
  t.match(await json('account', 'billing', 'City'), first, 'the other one is as it was')

  await refused(/No plan "Gold"; there are "Free", /, 'account', 'set-plan', 'Shop', 'Gold')
  await refused(/No account "None"/, 'account', 'set-plan', 'None', 'Free')
  const choices = await run('account', 'set-billing-state', 'Shop', 'late')
  t.match(choices, { status: 2, stderr: /Allowed choices are active, past_due, expired/ })
})

t.test('topics and contacts are added and refused', async (t) => {
  const { run, json, refused } = await openPlace(t)
  await json('account', 'create', 'City')
  t.match((await run('topic', 'list')).stdout, /^No topic yet/)
  const made = await json<{ id: string }>('topic', 'add', 'New books', '--description', 'Monthly')
  t.match(await json('topic', 'list'), {
    topics: [{ id: made.id, name: 'New books', archived: false }],
  })
  t.match((await run('topic', 'list')).stdout, /New books +0 .* Monthly$/m)
  await refused(/There is a topic named "NEW BOOKS" already/, 'topic', 'add', 'NEW BOOKS')
  t.match(await run('topic', 'add', 'Other', '--position', 'x'), { status: 2 })

  const add = ['contact', 'add', 'ada@x.test']
  const contact = await json<{ id: string }>(...add, '--phone', '0803 123 4567')
  t.match(contact, { email: 'ada@x.test', phone: '+2348031234567', added: true })
  t.match(await json(...add, '--first-name', 'Ada'), {
    id: contact.id,
    firstName: 'Ada',
    phone: '+2348031234567',
    added: false,
  })
  await refused(
    /"12" is not a phone number, of NG \(the setting contacts\.default_country\) or with \+/,
    ...add,
    '--phone',
    '12',
  )
  await refused(/email is not an email address/, 'contact', 'add', 'nonsense')
  t.match(await json('contacts', 'history', 'ADA@x.test'), [
    { at: /Z$/, kind: 'added', detail: { by: 'command' } },
  ])
  const { stdout } = await run('contacts', 'export')
  t.match(stdout, /^email,firstName,lastName,phone,[^\n]*\r\nada@x\.test,[^\n]*\+2348031234567/)
  await refused(/No list "Readers"; there are: none/, 'contacts', 'export', '--list', 'Readers')
  t.match(await json('contact', 'list', '0803'), {
    contacts: [{ email: 'ada@x.test' }],
    hasMore: false,
  })
  t.match((await run('contacts', 'list', 'bob')).stdout, /No such contact/)
  const changes = ['--first-name', 'Ada', '--metadata', '{"town": "Lagos"}']
  t.match(await json('contact', 'set', 'ADA@x.test', ...changes), {
    firstName: 'Ada',
    metadata: { town: 'Lagos' },
  })
  const phoneless = ['--phone', '', '--remove-metadata', 'town']
  t.match(await json('contact', 'set', contact.id, ...phoneless), { phone: null, metadata: {} })
  t.match(await run('contact', 'set', 'ada@x.test', '--metadata', '1'), {
    status: 2,
    stderr: /It must be a JSON object/,
  })
  await refused(/Nothing is to be changed; name a field/, 'contact', 'set', 'ada@x.test')
  await refused(/The account has no contact bob@x\.test/, 'contact', 'show', 'bob@x.test')
  t.match(await json('contact', 'show', 'ada@x.test'), { mail: { marketing: { gets: true } } })
  t.match(
    (await run('contact', 'show', 'ada@x.test')).stdout,
    /Gets your marketing mail[\s\S]*Receipts/,
  )
  t.match(await json('contact', 'delete', 'ADA@x.test', '--yes'), { id: contact.id, deleted: true })
  await refused(/The account has no contact ada@x\.test/, 'contact', 'delete', 'ada@x.test')
})

t.test('what is added by command follows the subscription, but for --force', async (t) => {
  const { run, json, refused } = await openPlace(t)
  await json('account', 'create', 'City')
  await json('account', 'create', 'Shop')
  const shop = ['--account', 'Shop']
  await json('domain', 'add', 'one.test', ...shop)
  const oneDomain = /error: The plan Free allows 1 domain; --force adds it all the same/
  await refused(oneDomain, 'domain', 'add', 'two.test', ...shop)
  t.match(await json('domain', 'add', 'two.test', '--force', ...shop), { name: 'two.test' })
  for (const name of ['a.test', 'b.test']) await json('domain', 'add', name, '--account', 'City')
  await json('account', 'set-plan', 'Shop', 'Growth')
  await json('domain', 'add', 'three.test', ...shop)

  await json('contact', 'add', 'known@x.test', ...shop)
  await json('account', 'set-billing-state', 'Shop', 'past_due')
  const pastDue = /error: The renewal failed: nothing can be added until it is paid.*; --force adds/
  const adding = [
    ['domain', 'add', 'four.test'],
    ['key', 'create', 'web'],
    ['contact', 'add', 'new@x.test'],
  ]
  for (const command of adding) await refused(pastDue, ...command, ...shop)
  t.match(await json('contact', 'add', 'known@x.test', '--first-name', 'Ann', ...shop), {
    added: false,
    firstName: 'Ann',
  })
  for (const command of adding) t.match(await run(...command, '--force', ...shop), { status: 0 })
  await json('account', 'set-billing-state', 'Shop', 'expired')
  await refused(/The subscription has ended.*; --force/, 'key', 'create', 'web', ...shop)
})
