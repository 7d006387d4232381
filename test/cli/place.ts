import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { databaseSettings, isPostgres, makeEmptyDatabase } from '../support/postgres.js'
import { makeTempDir } from '../support/store.js'
import { jsonOf, type RunOptions, runCli } from './run.js'

/** An initialised data directory whose DNS is a table in its settings, and commands upon it. */
export async function openPlace(t: Test) {
  const data = join(makeTempDir(t), 'data')
  if (isPostgres) makeEmptyDatabase(data)
  const options: RunOptions = { env: { POSTHORN_DATA: data, ...databaseSettings(data) } }
  await jsonOf(t, ['init'], options)
  const settings = join(data, 'posthorn.toml')
  writeFileSync(
    settings,
    `[outbound]
helo_name = "mail.appliance.test"
source_addresses = ["192.0.2.7", "2001:db8::7"]
[dns.static."*"]
fail = "nxdomain"
`,
  )
  return {
    data,
    run: (...args: string[]) => runCli(args, options),
    json: <T>(...args: string[]) => jsonOf<T>(t, args, options),
    async refused(expected: RegExp, ...args: string[]) {
      const result = await runCli(args, options)
      t.match(result, { status: 1, stdout: '', stderr: expected }, args.join(' '))
      t.ok(result.stderr.startsWith('error: '))
      t.notMatch(result.stderr, /\n {4}at /, 'no stack')
    },
    /** The command line itself is wrong. */
    async misused(expected: RegExp, ...args: string[]) {
      const result = await runCli(args, options)
      t.match(result, { status: 2, stdout: '', stderr: expected }, args.join(' '))
      t.match(result.stderr, /^error: .+\n'posthorn .+ --help' shows how it is used\n$/)
    },
    publish(host: string, records: { txt?: string[]; mx?: string[]; cname?: string }) {
      const mx = records.mx?.map((name) => `{ preference = 10, exchange = "${name}" }`)
      appendFileSync(
        settings,
        `[dns.static."${host}"]\n${records.txt ? `txt = ${JSON.stringify(records.txt)}\n` : ''}${mx ? `mx = [${mx}]\n` : ''}${records.cname ? `cname = "${records.cname}"\n` : ''}`,
      )
    },
  }
}
