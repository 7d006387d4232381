// Lists, work with all who fit, and somebody's data, by command.
import t from 'tap'
import { openPlace } from './place.js'

// On a machine that may have other work.
t.setTimeout(300_000)

t.test('lists are made, shown, renamed and deleted; all who fit are changed', async (t) => {
  const { run, json, refused } = await openPlace(t)
  await json('account', 'create', 'City')
  const { id } = (await json('list', 'create', 'Readers')) as { id: string }
  await json('contact', 'add', 'ada@x.test')
  t.match(await json('lists', 'list'), { lists: [{ id, name: 'Readers', contactCount: 0 }] })
  t.match(await json('list', 'rename', 'Readers', 'People'), { id, name: 'People' })
  t.match(await json('list', 'show', 'People'), { id, contactCount: 0, days: [] })

  await refused(/no filter/, 'contact', 'bulk', 'delete', '--yes')
  const said = await json('contact', 'bulk', 'delete', '--begins', 'ada', '--dry-run')
  t.match(said, { would: 'delete 1 contact', contacts: 1 })
  await refused(/This would delete 1 contact/, 'contact', 'bulk', 'delete', '--begins', 'ada')
  const set = ['contact', 'bulk', 'set', '--all', '--metadata', '{"town":"Lagos"}', '--yes']
  t.match(await json(...set), { do: 'set', state: 'running', total: 1, done: 0 })

  await refused(/This would delete the list "People"/, 'list', 'delete', 'People')
  t.match(await json('list', 'delete', 'People', '--yes'), { id, deleted: true })
  t.match((await run('list', 'list')).stdout, /^No list yet/)
})

t.test('what is known of an address is written as a ZIP, and erased', async (t) => {
  const { run, json, refused } = await openPlace(t)
  await json('account', 'create', 'City')
  await refused(
    /bob@x.test: Nothing is stored about this address/,
    'contact',
    'download',
    'bob@x.test',
  )
  await json('suppression', 'add', 'bob@x.test', '--detail', 'by phone')
  const known = await json('contact', 'download', 'bob@x.test')
  t.match(known, { address: 'bob@x.test', contact: null, suppressions: [{ reason: 'manual' }] })
  await refused(/not an email address/, 'contact', 'download', 'bob')
  await refused(/This would erase all/, 'contact', 'erase', 'bob@x.test')
  const begun = (await json('contact', 'erase', 'bob@x.test', '--yes')) as {
    id: string
    name: string
  }
  t.match(begun, { state: /running|done/, name: /^erased-/, stays: [{ what: /hash/ }] })
  t.match(await json('contact', 'erasure', begun.id), { id: begun.id, name: begun.name })
  t.match((await run('contact', 'erasure', begun.id)).stdout, /What stays:\n {2}A keyed hash/)
  const told = (await run('contact', 'erasure', begun.id)).stdout.replace(/\s+/g, ' ')
  t.match(told, 'Lines of the appliance’s log', 'the log, where deliveries name their recipients')
  t.match(await json('contact', 'download', 'bob@x.test'), { wasErased: true, suppressions: [] })
})
