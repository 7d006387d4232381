import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { eventually } from '../support/eventually.js'
import { initSandbox, serve } from '../support/process.js'
import { makeTempDir } from '../support/store.js'

// An object literal that begins with a spread and then has a new field (`{ ...mail, limit }`), one with a getter, and a
// function that is made by `promisify` has a hidden class of its own in Node 20, each time: 1 to 20 µs, garbage that
// only a whole collection takes away, and everything that reads the object is slower. The log of V8 tells of each.
const times = 100
// Of each module that is loaded and each file that is read, by Node itself.
const ofModules = ['default', 'encoding']

t.test('what is done for every mail makes no hidden class each time', async (t) => {
  await makesNone(t, async (ask) => {
    let last: unknown
    for (let i = 0; i < times; i++) {
      const mail = { from: 'a@example.test', to: `b${i}@one.test`, subject: 's', html: '<p>x</p>' }
      last = (await ask('/v1/emails/send', mail)).id
    }
    await eventually(async () => {
      const { email } = await ask(`/v1/emails/${last}`)
      return (email as { status: string }).status === 'delivered'
    }, 60_000)
  })
})

t.test(
  'nor does what is done for every row of an import and recipient of a campaign',
  async (t) => {
    let round = 0
    await makesNone(t, async (ask) => {
      const from = times * round++
      const { id } = await ask('/v1/contacts/lists', { name: `List ${round}` })
      const rows = Array.from({ length: times }, (_, i) => {
        const n = from + i
        return `c${n}@one.test,Ada ${n},Obi,+23480${12_000_000 + n},Town ${n},Street ${n}\n`
      })
      const file = new FormData()
      file.append(
        'file',
        new Blob([`email,firstName,lastName,phone,town,street\n${rows.join('')}`]),
        'a.csv',
      )
      t.match(await ask(`/v1/contacts/${id}/import`, file), { imported: times })
      const campaign = await ask('/v1/broadcasts', {
        from: 'a@example.test',
        name: 'News',
        listId: id,
        subject: 'For {{firstName}}',
        html: '<p>{{lastName}} in {{town}}: <a href="https://example.test/{{street}}">read</a></p>',
      })
      // In the list: a campaign by itself comes with its recipients, which are not what is looked at here.
      await eventually(async () => {
        // Seldom, as what this asks for is no part of the work.
        await new Promise((resolve) => setTimeout(resolve, 500))
        const { broadcasts } = await ask('/v1/broadcasts')
        const all = broadcasts as { id: unknown; stats: { delivered: number } }[]
        return all.some((one) => one.id === campaign.id && one.stats.delivered === times)
      }, 60_000)
    })
  },
)

type Ask = (path: string, body?: object) => Promise<Record<string, unknown>>

/** Runs what is done `times` times in an appliance twice, and looks what classes V8 made in the second. */
async function makesNone(t: Test, work: (ask: Ask) => Promise<void>): Promise<void> {
  const dataDir = makeTempDir(t)
  const { apiKey } = initSandbox(dataDir)
  const logs = join(dataDir, 'maps')
  mkdirSync(logs)
  const nodeArgs = ['--log-maps', `--logfile=${join(logs, 'maps.log')}`]
  const env = {
    POSTHORN_HTTP_RATE_LIMIT_REQUESTS: '0',
    POSTHORN_HTTP_PUBLIC_URL: 'https://mail.example.test',
  }
  const { url, kill } = await serve(t, dataDir, env, nodeArgs)
  const ask: Ask = async (path, body) => {
    const isForm = body instanceof FormData
    const response = await fetch(`${url}${path}`, {
      headers: {
        authorization: `Bearer ${apiKey}`,
        ...(!isForm && { 'content-type': 'application/json' }),
      },
      ...(body && { method: 'POST', body: isForm ? body : JSON.stringify(body) }),
    })
    const answer = await response.json()
    if (response.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer)}`)
    return answer as Record<string, unknown>
  }
  // What is made once, and while V8 learns.
  await work(ask)
  // Each thread has a file of its own; one that is begun later is looked at from its begin.
  const sizes = () =>
    new Map(readdirSync(logs).map((name) => [name, statSync(join(logs, name)).size]))
  const [before, begun] = [sizes(), performance.now()]
  await work(ask)
  const after = sizes()
  // What is done by time, up to twice a second, outgrows what is done by mail where the machine is slow.
  const byTime = (3 * (performance.now() - begun)) / 1000
  await kill('SIGTERM')
  const places = new Map<string, number>()
  let told = 0
  for (const [file, end] of after) {
    const begin = before.get(file)
    const events = readFileSync(join(logs, file))
      .subarray(begin, end)
      .toString('latin1')
      .split('\n')
    told += events.length
    for (const event of events) {
      // map,what,time,from,to,pc,line,column,why,name
      const [kind, what, , , , , line, column, why, name = ''] = event.split(',')
      const isOwn =
        (why === 'prototype' && !ofModules.includes(name)) ||
        /RootModification|Accessors/.test(why ?? '')
      if (kind !== 'map' || !isOwn) continue
      const place = `${what} ${line}:${column} ${why} ${name}`
      places.set(place, (places.get(place) ?? 0) + 1)
    }
  }
  t.ok(told > times, 'V8 has told')
  t.same(
    [...places].filter(([, count]) => count >= Math.max(times / 2, byTime)),
    [],
    'line, column of the compiled file; why, field',
  )
}
