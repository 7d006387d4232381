import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { makeTempDir } from '../support/store.js'
import { missing } from '../support/tools.js'
import { runCli } from './run.js'

t.setTimeout(60_000)

const written = async (env: Record<string, string> = {}) => {
  const { status, stdout, stderr } = await runCli(['man-page'], { env })
  t.match({ status, stderr }, { status: 0, stderr: '' })
  return stdout
}

t.test('the manual page names every command and option, and each exit status', async (t) => {
  const page = (await written()).replaceAll('\\-', '-')
  for (const name of [
    'posthorn queue fail',
    'posthorn contact delete',
    'posthorn man-page',
    'posthorn backup verify',
  ]) {
    t.match(page, `\n.SS "${name}"\n`)
  }
  for (const option of ['--older-than <age>', '--config <file>', '-q, --quiet', '--overlap']) {
    t.match(page, `\n.B ${option}`)
  }
  t.match(page, '$ posthorn queue retry --domain example.com\n')
  for (const status of [0, 1, 2, 3, 65, 74, 78, 130, 143]) t.match(page, `\n.TP\n.B ${status}\n`)
  t.match(page, /\.TH POSTHORN 1 "" /)
})

t.test('the same commands give the same page, of the day that the build names', async (t) => {
  t.equal(await written(), await written())
  const { length } = await written()
  const dated = await written({ SOURCE_DATE_EPOCH: '1795305600' })
  t.match(dated, '.TH POSTHORN 1 "2026-11-22" ')
  t.equal(dated.length, length + '2026-11-22'.length)
})

t.test('mandoc finds no fault in the manual page', { skip: missing('mandoc') }, async (t) => {
  const file = join(makeTempDir(t), 'posthorn.1')
  writeFileSync(file, await written({ SOURCE_DATE_EPOCH: '1795305600' }))
  const lint = spawnSync('mandoc', ['-Tlint', '-Wwarning', file], { encoding: 'utf8' })
  t.match(lint, { status: 0, stdout: '', stderr: '' })
  const shown = spawnSync('mandoc', ['-Tutf8', file], { encoding: 'utf8' }).stdout
  const plain = shown.replaceAll(/.\u0008/g, '').replaceAll('‐', '-')
  t.match(
    plain,
    /\n {5,}\$ posthorn template put welcome --html welcome\.html --subject 'Welcome, \{\{ name \}\}'\n/,
  )
  t.match(plain, /\n {5,}0 {5,}It is done|\n {5,}0 {3,}it is done/)
})
