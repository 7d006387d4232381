import t from 'tap'
import { understand } from '../../src/submission/message.js'

const read = (from: string) => understand(Buffer.from(`From: ${from}\r\nSubject: x\r\n`)).from

t.test('a From in which another reader sees another sender is refused', async (t) => {
  const forged = [
    '(") <ceo@bank.test>, (") <me@sender.test>',
    '(") <ceo@bank.test> (") <me@sender.test>',
    '\\" <ceo@bank.test>, \\" <me@sender.test>',
    '["] <ceo@bank.test>, ["] <me@sender.test>',
    '(\\") ceo@bank.test, (\\") <me@sender.test>',
    'ceo, Bank <me@sender.test>',
    'Bank: <me@sender.test>',
    'x) <me@sender.test>',
    '( <me@sender.test>',
    '=?utf-8?q?ceo=40bank.test?=\\<me@sender.test>',
    '=?utf-8?q?ceo=40bank.test=3E_?=@sender.test',
    'Bank <=?utf-8?q?ceo=40bank.test=3E_?=@sender.test>',
    'me@sender.test (\\)',
  ]
  for (const from of forged) {
    t.throws(() => read(from), { code: 'validation_error', message: /a From with one/ }, from)
  }
})

t.test('the forms that programs write are read', async (t) => {
  const usual: [string, string][] = [
    ['me@sender.test', 'me@sender.test'],
    ['<me@sender.test>', 'me@sender.test'],
    ['J Example & Co <me@sender.test>', 'J Example & Co <me@sender.test>'],
    ['Ann Example <me@sender.test>', 'Ann Example <me@sender.test>'],
    [
      '"Example, Ann (ops) \\"x\\"" <me@sender.test>',
      '"Example, Ann (ops) \\"x\\"" <me@sender.test>',
    ],
    ['"ceo@bank.test" <me@sender.test>', '"ceo@bank.test" <me@sender.test>'],
    ['Ann (Sales, EU) <me@sender.test>', '"Ann (Sales, EU)" <me@sender.test>'],
    ['[CI] Builds <me@sender.test>', '"[CI] Builds" <me@sender.test>'],
    ['=?UTF-8?Q?Zo=C3=AB?= <me@sender.test>', 'Zoë <me@sender.test>'],
    ['Zoë <me@sender.test>', 'Zoë <me@sender.test>'],
    ['me@sender.test (Ann Example)', 'Ann Example <me@sender.test>'],
    ['A name that is folded\r\n\t<me@sender.test>', 'A name that is folded <me@sender.test>'],
  ]
  for (const [from, text] of usual) t.equal(read(from).text, text, from)
})
