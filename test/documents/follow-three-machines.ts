import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { fakeMx } from '../support/fake-mx.js'
import { type Machine, makeMachines } from '../support/machines.js'
import { becomes } from '../support/nodes.js'
import { blocksOf } from './documents.js'

/*
 * Run by three-machines.test.ts, in name spaces of its own: each line of the document on the machine that its block names,
 * as it stands, while programs send. Only the world is missing: mail goes to one receiver, and no name is asked for.
 */
t.setTimeout(900_000)

const page = 'systemd/three-machines/README.md'
const names = ['mail1', 'mail2', 'mail3']

// Before the settings that the document makes, on the first machine; the others get them with its code.
const withoutWorld = `
[dns.static."*"]
mx = [{ preference = 10, exchange = "mx.test" }]
[dns.static."mx.test"]
a = ["203.0.113.9"]
[protection.surges]
minimum = 0
[http.rate_limit]
requests = 0
`
const outbound = 'warm_up = "off"\\nallow_private_addresses = true'

t.test('the page, line by line', async (t) => {
  const mx = await fakeMx(t, {
    host: '203.0.113.9',
    port: 25,
    dot: { reply: '250 ok', delayMs: 200 },
  })
  const machines = await makeMachines(t, names)
  const of = (name: string) => machines.find((one) => one.name === name) ?? machines[0]
  const blocks = blocksOf(page)
  /** What a shell that stays open would know. */
  const known = new Map<string, string>()
  const codes: string[] = []
  let apiKey = ''
  let load: Load | undefined
  let dead: Machine | undefined

  for (const { text, line } of blocks) {
    const [, where = ''] = /^# ([^:\n]*)/.exec(text) ?? []
    const isAny = where.startsWith('any machine')
    if (where.endsWith('that is left')) {
      dead = await leaderOf(machines)
      t.comment(`the plug of ${dead.name}, the leader of PostgreSQL, is pulled`)
      load = sendUntilEnded(apiKey, names)
      await becomes(
        async () => load?.accepted.length ?? 0,
        (n) => n >= 100,
        60_000,
      )
      await dead.pullThePlug()
      const before = load.accepted.length
      await becomes(
        async () => load?.accepted.length ?? 0,
        (n) => n >= before + 100,
        120_000,
      )
    }
    const named = names.filter((name) => where === 'each machine' || where.startsWith(name))
    const on = isAny ? names.filter((name) => name !== dead?.name) : named
    t.ok(on.length > 0, `${page}:${line} says where it is run`)
    for (const name of on) {
      t.comment(`${line} on ${name}`)
      const machine = of(name)
      if (machine === undefined) throw new Error(name)
      const number = name.slice(-1)
      const own = text.replace(
        'NAME=mail1 PRIVATE=10.0.0.1',
        `NAME=${name} PRIVATE=10.0.0.${number}`,
      )
      const code = /"\$CODE"/.test(text) ? `CODE='${codes.shift()}'\n` : ''
      const run = () => machine.run(`${known.get(name) ?? ''}${code}${own}`)
      const exports = own.split('\n').filter((one) => one.startsWith('export '))
      known.set(name, `${known.get(name) ?? ''}${exports.map((one) => `${one}\n`).join('')}`)
      const times = /once for each of the others/.test(where) ? 2 : 1
      for (let n = 0; n < times; n++) {
        const said = /again until/.test(text)
          ? await becomes(
              run,
              (table) => /Leader/.test(table) && /Sync Standby/.test(table),
              120_000,
            )
          : await run()
        const [, found] = /^([\w-]{43}@http\S+)$/m.exec(said) ?? []
        if (found !== undefined) codes.push(found)
        apiKey = /"apiKey": *"([^"]+)"/.exec(said)?.[1] ?? apiKey
      }
      if (text.includes('posthorn setup'))
        await machine.run(`cd /etc/posthorn
          sed -i '/^\\[outbound\\]/a ${outbound}' posthorn.toml
          printf '%s' '${withoutWorld}' | cat - posthorn.toml >new && cat new >posthorn.toml && rm new`)
      if (text.includes('name = "mail1"'))
        await machine.run('posthorn domain verify example.com --trust')
    }
  }
  if (load === undefined || dead === undefined) throw new Error('The page pulls no plug')
  await judge(t, { load, dead, machines, mx })
})

interface Load {
  /** Recipients of mail that was answered with 200. */
  accepted: string[]
  /** The longest time without a 200. */
  longestMs(): number
  end(): Promise<void>
}

/** Programs that send all the time, each to the next machine when one does not take a mail. */
function sendUntilEnded(apiKey: string, names: readonly string[]): Load {
  const accepted: string[] = []
  let isOver = false
  let last = performance.now()
  let longest = 0
  const send = async (own: number) => {
    for (let n = 0, at = own; !isOver || n === 0; n++) {
      const to = `i${own}-${n}@d${n % 5}.test`
      const key = randomUUID()
      while ((await answerOf(apiKey, names[at % names.length] ?? '', { to, key })) !== 200) {
        at++
        await pause(100)
      }
      const now = performance.now()
      longest = Math.max(longest, now - last)
      last = now
      accepted.push(to)
      await pause(50)
    }
  }
  const running = Promise.all(names.map((_, own) => send(own)))
  return {
    accepted,
    longestMs: () => longest,
    async end() {
      isOver = true
      await running
    },
  }
}

async function answerOf(
  apiKey: string,
  name: string,
  { to, key }: { to: string; key: string },
): Promise<number> {
  const from = 'Shop <shop@example.com>'
  try {
    const response = await fetch(`http://10.0.0.${name.slice(-1)}:8080/v1/emails/send`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${apiKey}`,
        'content-type': 'application/json',
        'idempotency-key': key,
      },
      body: JSON.stringify({ from, to, subject: 'Hello', html: '<p>Hello' }),
      signal: AbortSignal.timeout(5_000),
    })
    await response.text()
    if (response.status !== 200 && response.status !== 409 && response.status < 500)
      throw new Error(`A send was answered with ${response.status}`)
    return response.status
  } catch (error) {
    if (error instanceof Error && error.message.startsWith('A send')) throw error
    return 0
  }
}

async function judge(
  t: Test,
  given: {
    load: Load
    dead: Machine
    machines: readonly Machine[]
    mx: Awaited<ReturnType<typeof fakeMx>>
  },
): Promise<void> {
  const { load, dead, machines, mx } = given
  const [left] = machines.filter((one) => one !== dead)
  if (left === undefined) throw new Error('None is left')
  const ask = async (sql: string) =>
    (
      await left.run(
        `psql -At "postgres://posthorn:one-that-you-made-up@10.0.0.1,10.0.0.2,10.0.0.3/posthorn?target_session_attrs=read-write&connect_timeout=2" -c "${sql}"`,
      )
    ).trim()
  await load.end()
  const total = load.accepted.length
  await becomes(
    () => ask('select count(*) from queue'),
    (n) => n === '0',
    120_000,
  ).catch(async (error: unknown) => {
    t.comment(await left.run('posthorn node list; posthorn queue summary'))
    t.comment(
      await ask(
        'select node, lease, attempts, due_at - extract(epoch from now()) * 1000, count(*) from queue group by 1, 2, 3, 4 limit 40',
      ),
    )
    t.comment(await left.run('tail -40 /var/log/unit-posthorn.log'))
    throw error
  })
  const copies = new Map<string, number>()
  for (const { to } of mx.messages)
    for (const one of to) copies.set(one, (copies.get(one) ?? 0) + 1)
  t.same(
    load.accepted.filter((to) => !copies.has(to)),
    [],
    'each that was answered with 200 arrived',
  )
  const twice = [...copies.values()].filter((n) => n > 1).length
  const lost = Number(await ask("select count(*) from events where reply like 'Node lost%'"))
  t.comment(`${total} mails, ${twice} came twice, ${lost} were in hand at ${dead.name}`)
  t.comment(`the longest time without a 200: ${Math.round(load.longestMs() / 1_000)} s`)
  t.ok(twice <= lost, 'only what the dead machine had in hand came twice')
  t.ok(load.longestMs() < 60_000)
  const nodes = async () =>
    JSON.parse(await left.run('posthorn node list --json')) as { name: string; state: string }[]
  t.same(
    (await nodes()).filter(({ state }) => state === 'lost').map(({ name }) => name),
    [dead.name],
    'no other node was taken for dead',
  )
  await dead.boot()
  await becomes(nodes, (all) => all.every(({ state }) => state === 'up'), 120_000)
  await becomes(
    () => left.run('patronictl -c /etc/patroni/config.yml list'),
    (table) => table.split('\n').filter((row) => /\| (running|streaming) /.test(row)).length === 3,
    180_000,
  )
}

/** The machine whose PostgreSQL takes writes. */
async function leaderOf(machines: readonly Machine[]): Promise<Machine> {
  const table = await machines[0]?.run('patronictl -c /etc/patroni/config.yml list --format json')
  const all = JSON.parse(table ?? '[]') as { Member: string; Role: string }[]
  const leader = all.find(({ Role }) => Role === 'Leader')?.Member
  const found = machines.find(({ name }) => name === leader)
  if (found === undefined) throw new Error(`There is no leader: ${table}`)
  return found
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
