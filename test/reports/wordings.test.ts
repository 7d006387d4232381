// Wordings of refusals, one a line in test/fixtures/replies: those that say that nobody is there, those that do not, and
// what the others mean in other languages.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { packageFile } from '../../src/config/index.js'
import { classify, loadBounceRules, saidInReply } from '../../src/reports/index.js'
import { makeTempDir } from '../support/store.js'
import { shippedRules } from './fixtures.js'

const linesOf = (file: string) =>
  readFileSync(join(packageFile('test/fixtures/replies'), file), 'utf8')
    .trim()
    .split('\n')

function verdictOn(reply: string) {
  const said = saidInReply(reply)
  if (said === undefined) throw new Error(`${reply} is no reply`)
  return classify(shippedRules, said)
}

t.test('who says that nobody is there is believed, in whatever words and language', async (t) => {
  for (const reply of linesOf('nobody-there.txt')) {
    const { class: found, suppress, rule } = verdictOn(reply)
    t.ok(suppress && /^(?:bad-mailbox|disabled)$/.test(found), `${reply}: ${found} by ${rule}`)
    const put = verdictOn(reply.replace(/^550/, '450'))
    t.notOk(put.suppress, `${reply} for now`)
  }
})

t.test(
  'who says anything else is not: of the sender, of a domain, for now, or nothing',
  async (t) => {
    for (const reply of linesOf('somebody-may-be-there.txt')) {
      const { suppress, soft, rule } = verdictOn(reply)
      t.notOk(suppress, `${reply} by ${rule}`)
      if (!/full|quota|квоту|已满/.test(reply)) t.notOk(soft, `${reply} by ${rule}`)
    }
  },
)

t.test('what is not of a dead mailbox is known in other words and languages', async (t) => {
  for (const line of [...linesOf('in-other-languages.txt'), ...linesOf('of-other-programs.txt')]) {
    const [expected, reply = ''] = line.split('| ')
    const { class: found, rule } = verdictOn(reply)
    t.equal(found, expected, `${reply} by ${rule}`)
  }
})

t.test(
  'a host that is unknown counts at once where a status or a name server says whose',
  async (t) => {
    for (const reply of [
      '550 Host unknown',
      '554 unknown host',
      '550 <a@b.test>: host not found',
    ]) {
      t.match(verdictOn(reply), { class: 'bad-domain', suppress: false, soft: true }, reply)
    }
    for (const reply of [
      '550 5.1.2 Host unknown',
      '550 5.1.2 <a@b.test>... Host unknown (Name server: b.test: host not found)',
      '550 Host unknown (Authoritative answer from name server)',
    ]) {
      t.match(verdictOn(reply), { class: 'bad-domain', suppress: true }, reply)
    }
  },
)

t.test('what only may not exist counts when it is repeated', async (t) => {
  for (const reply of [
    '550 The account or domain may not exist, they may be blacklisted, or missing the proper dns entries',
    '550 5.1.1 <a@b.test> the account or domain may not exist, they may be blacklisted',
    '550 This user may not exist',
    '550 The recipient a@b.test might no longer exist here',
  ]) {
    t.match(verdictOn(reply), { suppress: false, soft: true }, reply)
  }
})

t.test('accents and their absence are one, and a choice is either of its texts', async (t) => {
  for (const reply of [
    '550 Empfänger existiert nicht',
    '550 EMPFANGER existiert NICHT',
    '550 Empfa\u0308nger existiert nicht',
  ]) {
    t.ok(verdictOn(reply).suppress, reply)
  }
  t.notOk(verdictOn('550 Der Empfaengerkreis existiert nicht').suppress, 'another word')
  const rulesOf = (pattern: string) => {
    const file = join(makeTempDir(t), 'rules.toml')
    const rule = `[[text]]\nname = "own"\nclass = "busy"\npatterns = ["${pattern}"]\n`
    writeFileSync(file, rule)
    return loadBounceRules([packageFile('config/bounce-rules.toml'), file])
  }
  t.throws(() => rulesOf('{out of|} paper'), /up to 200 characters/, 'it may begin with nothing')
  const rules = rulesOf('{out of|no} paper*{Tray|feeder} {one|2|}')
  const classOf = (text: string) =>
    classify(rules, { text, code: 550, status: undefined, host: undefined, final: true }).class
  for (const text of ['No paper in tray 2', 'out of paper: TRAY one', 'no paper at feeder 7']) {
    t.equal(classOf(text), 'busy', text)
  }
  for (const text of ['paper in tray 2', 'out of paper', 'no paperclip tray', 'No papertray 2']) {
    t.not(classOf(text), 'busy', text)
  }
})
