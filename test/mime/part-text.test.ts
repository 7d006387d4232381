import t from 'tap'
import { textOfPart } from '../../src/mime/index.js'

const part = { encoding: 'quoted-printable', charset: 'utf-8' }

t.test('blanks at the end of a quoted-printable line are none of the text', async (t) => {
  const octets = Buffer.from('a  b \t\r\nc=20\r\nd =\r\n e=C3=A9  ')
  t.equal(textOfPart(part, octets), 'a  b\r\nc \r\nd  e\u00e9')
})

t.test('a line of blanks costs no more than another', async (t) => {
  const { user } = process.cpuUsage()
  const blanks = `${' '.repeat(400_000)}x`
  t.equal(textOfPart(part, Buffer.from(blanks)), blanks)
  // 40,000 of them took 2.5 s, and ten times as many a hundred times that.
  const seconds = (process.cpuUsage().user - user) / 1e6
  t.ok(seconds < 10, `${seconds} s`)
})
