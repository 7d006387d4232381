import { readFileSync } from 'node:fs'
import { counted } from '../amounts/index.js'
import * as operations from '../automations/contract.js'
import {
  draftAnswer,
  dropDraft,
  enableWritten,
  findAnyAutomation,
  shownState,
  writeDraft,
} from '../automations/index.js'
import { readBilling } from '../billing/index.js'
import { OperatorError } from '../errors/index.js'
import { jsonObjectIn } from '../json/index.js'
import { answering, type CommandDeps } from './answering.js'
import type { CommandRow } from './command-row.js'
import { type AskOptions, askOptions, confirmed, type Intent } from './confirm.js'
import { givenTo } from './given.js'
import { say, sayFields, sayTable } from './output.js'
import { plansOf } from './plan.js'
import { withRenderer } from './template.js'

/** `automation draft` and the commands on a draft. */
export const draftAutomationRows: readonly CommandRow[] = [
  {
    usage: 'draft <automation>',
    does: operations.getDraft,
    about: 'show an automation as it is being written, and what is wrong with it',
    help: `Example:
  $ posthorn automation draft Welcome --json > welcome.json

Without a draft it is the version as it is.`,
    run: answering(show),
  },
  {
    usage: 'write-draft <automation> <file>',
    does: operations.updateDraft,
    about: 'keep a draft; the version goes on as it is',
    help: `Example:
  $ posthorn automation write-draft Welcome welcome.json

The file (- reads stdin) is JSON with any of name, steps, connections, settings, and the revision, as 'automation
draft --json' says it. It is kept whatever it lacks; with an old revision it is refused.`,
    run: answering(write),
  },
  {
    usage: 'enable-draft <automation>',
    does: operations.enableDraft,
    about: 'put a draft in force: whoever enters from now on goes by it',
    help: 'Example:\n  $ posthorn automation enable-draft Welcome',
    run: answering(enable),
  },
  {
    usage: 'discard-draft <automation>',
    does: operations.discardDraft,
    about: 'throw a draft away; the version stays as it is',
    options: askOptions(),
    help: 'Example:\n  $ posthorn automation discard-draft Welcome --yes',
    run: answering(discard),
  },
]

type Draft = Awaited<ReturnType<typeof draftAnswer>>

async function show({ store, clock }: CommandDeps, named: string) {
  const found = await findAnyAutomation(store.read, named)
  return answerOf(
    await withRenderer({ store, clock }, (renderer) => draftAnswer({ store, renderer }, found)),
  )
}

const answerOf = (json: Draft) => ({ json, say: () => sayDraft(json) })

function sayDraft({ name, isDraft, revision, steps, errors }: Draft): void {
  sayFields({
    Automation: name,
    Draft: isDraft ? 'yes' : 'no: it is the version',
    Revision: revision,
    Steps: counted(steps.length, 'step'),
  })
  if (errors.length === 0) return
  say()
  sayTable(
    ['STEP', 'WHAT IS WRONG'],
    errors.map(({ key, error }) => [key ?? '-', error]),
    '',
  )
}

async function write({ store, clock, place }: CommandDeps, named: string, file: string) {
  const { account_id, id } = await findAnyAutomation(store.read, named)
  // 0 is the file descriptor of stdin.
  const given = jsonObjectIn(readFileSync(file === '-' ? 0 : file, 'utf8'))
  if (given === undefined) throw new OperatorError(`${file} is not a JSON object`)
  const body = givenTo(operations.updateDraft, given)
  const billing = await readBilling(store.read, plansOf(place), account_id)
  return answerOf(
    await withRenderer({ store, clock }, (renderer) =>
      writeDraft({ store, clock, renderer }, billing, id, body),
    ),
  )
}

async function enable({ store, clock, place }: CommandDeps, named: string) {
  const { account_id, id } = await findAnyAutomation(store.read, named)
  const billing = await readBilling(store.read, plansOf(place), account_id)
  const enabled = await withRenderer({ store, clock }, (renderer) =>
    enableWritten({ store, clock, renderer }, billing, id, undefined),
  )
  return {
    json: shownState(enabled),
    say: () => say(`In force: its event starts runs of version ${enabled.version} from now on`),
  }
}

async function discard({ store, clock, place }: CommandDeps, named: string, options: AskOptions) {
  const { account_id, id, name } = await findAnyAutomation(store.read, named)
  const intent: Intent = {
    to: `throw the draft of "${name}" away`,
    facts: ['The version stays as it is'],
    counts: { id },
    how: 'moderate',
  }
  if (!(await confirmed(place, options, intent))) return
  return answerOf(
    await withRenderer({ store, clock }, (renderer) =>
      dropDraft({ store, clock, renderer }, account_id, id),
    ),
  )
}
