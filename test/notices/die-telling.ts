import { insertNotice } from '../../src/emails/index.js'
import { silentLog } from '../../src/log/index.js'
import { tellBurning } from '../../src/notices/index.js'
import { makeTurns, openStore } from '../../src/store/index.js'
import { FakeClock } from '../support/clock.js'
import { databaseIn } from '../support/store.js'

/* A process that is killed while it tells the operator: within the transaction, or after its commit. */
const [, , dataDir = '', when = '', now = ''] = process.argv
const clock = new FakeClock(Number(now))
const store = await openStore({
  ...(await databaseIn(dataDir)),
  clock,
  turns: makeTurns(),
  slot: 3,
})
const die = () => process.kill(process.pid, 'SIGKILL')
const wait = { schedule: [60_000], maxAge: 1e9 }
const retry = { transactional: wait, automation: wait, campaign: wait }
await tellBurning({
  store,
  clock,
  log: silentLog,
  host: 'mail.example.net',
  settings: { silence: [], againAfterMs: 1, burningPerDay: 6, zone: 'UTC' },
  post: async (tx, mail) => {
    const to = { from: '', to: 'ops@example.org', now: clock.now() }
    const made = await insertNotice({ store, retry }, tx, { ...mail, ...to })
    if (when === 'within') die()
    return made?.id
  },
})
die()
