import { spawnSync } from 'node:child_process'
import t from 'tap'
import { makeDocument } from '../../src/openapi/index.js'
import { missing } from '../support/tools.js'
import { secret, webhookVectors } from '../support/webhook-vectors.js'

const now = () => Math.floor(Date.now() / 1_000)

for (const [program, ...args] of [
  [process.execPath, 'verify.mjs'],
  ['python3', 'verify.py'],
  ['php', 'verify.php'],
  ['go', 'run', 'verify.go'],
  ['sh', 'verify.sh'],
] as [string, ...string[]][]) {
  const file = args.at(-1) ?? ''
  const tool = file === 'verify.sh' ? 'openssl' : program
  const skip = file === 'verify.mjs' ? false : missing(tool)
  t.test(
    `the example ${file} of the reference takes what is good, and nothing else`,
    { skip },
    async (t) => {
      for (const { what, header, body: input, good } of webhookVectors(now())) {
        const all = [...args, secret, header]
        const { status } = spawnSync(program, all, { input, cwd: 'src/openapi/static' })
        t.equal(status, good ? 0 : 1, what)
      }
    },
  )
}

t.test('the reference tells of every webhook and shows the examples', async (t) => {
  const document = makeDocument([], '0.1.0', [])
  t.same(Object.keys(document.webhooks as object), [
    'email.sent',
    'email.delivered',
    'email.bounced',
    'email.complained',
    'email.failed',
    'email.opened',
    'email.clicked',
    'email.received',
  ])
  const { description } = (document.tags as { description: string }[])[0] ?? { description: '' }
  for (const mark of [
    'timingSafeEqual',
    'compare_digest',
    'hash_equals',
    'hmac.Equal',
    'openssl dgst',
  ]) {
    t.match(description, mark)
  }
})
