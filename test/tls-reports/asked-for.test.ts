import t from 'tap'
import { readAskedFor } from '../../src/tls-reports/asked-for.js'

t.test('where reports go to is read as RFC 8460 §3 wants it', async (t) => {
  const rows: [string[], string[]][] = [
    [['v=TLSRPTv1; rua=mailto:tls@one.test'], ['tls@one.test']],
    [['v=TLSRPTv1;rua=mailto:tls@one.test'], ['tls@one.test']],
    [
      ['v=TLSRPTv1; rua=mailto:tls@one.test,https://reports.one.test/v1'],
      ['tls@one.test', 'https://reports.one.test/v1'],
    ],
    [['v=TLSRPTv1; rua = mailto:a%2Cb@one.test , mailto:c@one.test; ext=1'], ['c@one.test']],
    [['v=TLSRPTv1; rua=mailto:a%21b@one.test'], ['a!b@one.test']],
    [['v=spf1 -all', 'v=TLSRPTv1; rua=mailto:tls@one.test'], ['tls@one.test']],
    [['v=TLSRPTv1; rua=mailto:a@one.test', 'v=TLSRPTv1; rua=mailto:b@one.test'], []],
    [['v=TLSRPTv1; rua=mailto:a@one.test,mailto:a@one.test'], ['a@one.test']],
    [['v=TLSRPTv10; rua=mailto:a@one.test'], []],
    [['rua=mailto:a@one.test; v=TLSRPTv1'], []],
    [['v=TLSRPTv1; rua=http://one.test/plain'], []],
    [['v=TLSRPTv1; rua=https://user:secret@one.test/'], []],
    [['v=TLSRPTv1; rua=mailto:a@one.test?subject=x'], []],
    [['v=TLSRPTv1; rua=mailto:a%0d%0aBcc:b@one.test'], []],
    [['v=TLSRPTv1; rua=mailto:%zz@one.test'], []],
    [['v=TLSRPTv1; rua=mailto:One <a@one.test>'], []],
    [['v=TLSRPTv1;'], []],
    [[], []],
  ]
  for (const [records, expected] of rows) {
    const found = readAskedFor(records).map((to) => (to.kind === 'mail' ? to.address : to.uri))
    t.same(found, expected, records.join(' | '))
  }
  const many = Array.from({ length: 40 }, (_, i) => `mailto:a${i}@one.test`).join(',')
  t.equal(readAskedFor([`v=TLSRPTv1; rua=${many}`]).length, 5, 'no more than a few')
})

t.test('a record of nothing but blanks takes no time', async (t) => {
  const blanks = ' '.repeat(600_000)
  const { user } = process.cpuUsage()
  t.match(readAskedFor([`v=TLSRPTv1; rua=${blanks}x, mailto:a@one.test${blanks}`]), [
    { kind: 'mail', address: 'a@one.test' },
  ])
  // By the square of the blanks it was minutes.
  const seconds = (process.cpuUsage().user - user) / 1e6
  t.ok(seconds < 10, `${seconds} s`)
})
