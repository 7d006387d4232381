import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageFile } from '../../src/config/index.js'
import {
  type BounceRules,
  classify,
  loadBounceRules,
  type Report,
  readReport,
  saidOf,
} from '../../src/reports/index.js'

/** `NN-name.eml` is a report, `.json` what it must be read as, `.why` what it is there for. */
export interface Fixture {
  name: string
  raw: Buffer
  expected: unknown
  why: string
}

const folder = packageFile('test/fixtures/reports')

export const fixtures: readonly Fixture[] = readdirSync(folder)
  .filter((file) => file.endsWith('.eml'))
  .map((file) => file.slice(0, -'.eml'.length))
  .map((name) => ({
    name,
    raw: readFileSync(join(folder, `${name}.eml`)),
    expected: JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8')),
    why: readFileSync(join(folder, `${name}.why`), 'utf8').trim(),
  }))

export const shippedRules: BounceRules = loadBounceRules([packageFile('config/bounce-rules.toml')])

/** A report as the `.json` files have it: with what is concluded of each recipient. */
export async function concludedOf(raw: Buffer): Promise<unknown> {
  const report = await readReport(raw)
  const common = { ...report, tokens: report.tokens.length }
  if (report.kind !== 'dsn') return common
  return { ...common, recipients: report.recipients.map((one) => withVerdict(report, one)) }
}

type Dsn = Extract<Report, { kind: 'dsn' }>

function withVerdict(report: Dsn, recipient: Dsn['recipients'][number]) {
  if (recipient.action !== 'failed' && recipient.action !== 'delayed') return recipient
  const verdict = classify(shippedRules, saidOf(recipient, report.reportingMta))
  return {
    ...recipient,
    verdict: { class: verdict.class, suppress: verdict.suppress, soft: verdict.soft },
  }
}
