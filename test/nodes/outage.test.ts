// Issue 46: a database that is away for longer than the leases of all nodes, as in a failover.
import t from 'tap'
import { becomes, mailsTo, nodesRig } from '../support/nodes.js'
import { noPostgres } from '../support/postgres.js'

t.setTimeout(300_000)
// Longer than a lease, within which a node counts as alive.
const awayMs = 13_000

t.test(
  'an outage takes no node for dead, and sends nothing twice',
  { skip: noPostgres ?? false },
  async (t) => {
    // Every mail is under way when the database goes, and has left when it comes back.
    const rig = await nodesRig(t, { dot: { reply: '250 ok', delayMs: 3_000 } })
    const { ask, mx, send, start, server } = rig
    const nodes = [await start('mail1'), await start('mail2')]
    const epochs = () => ask('select name, epoch, gone_at from nodes order by name')
    const owners = () => ask('select name, epoch from duties order by name')
    await becomes(
      () =>
        ask<{ n: number }>('select count(distinct epoch)::int as n from duties where epoch > 0'),
      ([row]) => row?.n === 2,
      60_000,
    )
    // Until duties move no more, one a second.
    await becomes(
      async () => {
        const before = JSON.stringify(await owners())
        await new Promise((resolve) => setTimeout(resolve, 3_000))
        return JSON.stringify(await owners()) === before
      },
      (isSame) => isSame,
      90_000,
    )
    const before = { epochs: await epochs(), owners: await owners() }
    for (const [n, node] of nodes.entries())
      t.equal((await send(node, mailsTo(`n${n}`, 3))).status, 200)
    await becomes(
      () => ask<{ n: number }>('select count(*)::int as n from queue where lease is not null'),
      ([row]) => row?.n === 6,
      10_000,
    )
    server.crash()
    await new Promise((resolve) => setTimeout(resolve, awayMs))
    server.start()
    await becomes(
      () => ask<{ n: number }>("select count(*)::int as n from emails where status = 'delivered'"),
      ([row]) => row?.n === 6,
      60_000,
    )
    // Whoever was taken for dead would be so by now.
    await new Promise((resolve) => setTimeout(resolve, 3_000))
    t.same({ epochs: await epochs(), owners: await owners() }, before)
    t.equal(mx.messages.length, 6, 'each came once')
  },
)
