import t from 'tap'
import { takeDatabase } from '../../src/nodes/index.js'
import { aboutSqlite } from '../support/postgres.js'
import { openTestStore } from '../support/store.js'
import { openPlace } from './place.js'

// On a machine that may have other work.
t.setTimeout(300_000)

t.test(
  'over a file there is one node, of which nothing is to be changed',
  aboutSqlite,
  async (t) => {
    const { data, run, json, refused } = await openPlace(t)
    t.match((await run('node')).stdout, /No appliance was ever started/)
    const store = await openTestStore(t, { dataDir: data })
    await takeDatabase(store, { name: 'mail1', joins: false, isFile: true })
    t.match(await json('node', 'list'), [
      { name: 'mail1', number: 1, state: 'file', queued: 0, silentMs: null, goneAt: null },
    ])
    t.match(
      (await run('node', 'show', 'mail1')).stdout,
      /State +file[\s\S]*Duties +chores, calendar/,
    )
    await refused(/There is no node mail2; 'posthorn node list' has them/, 'node', 'show', 'mail2')
    for (const change of ['drain', 'undrain', 'fence', 'forget'])
      await refused(
        /The database is a file, which one appliance alone has/,
        'node',
        change,
        'mail1',
      )
  },
)
