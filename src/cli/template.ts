import { type Command, Option } from 'commander'
import { counted } from '../amounts/index.js'
import { refuseTemplateInUse, type TemplateUse, templateUses } from '../automations/index.js'
import { OperatorError } from '../errors/index.js'
import { silentLog } from '../log/index.js'
import * as operations from '../templates/contract.js'
import {
  deletedTemplate,
  deleteTemplate,
  findSyntaxFault,
  findTemplate,
  listTemplates,
  listVersions,
  openRenderer,
  putTemplate,
  type Renderer,
  shownTemplate,
  type Template,
  templatesAnswer,
  tryRender,
  versionsAnswer,
} from '../templates/index.js'
import { answering, type CommandAnswer, type CommandDeps } from './answering.js'
import { addCommands, type CommandRow } from './command-row.js'
import { type AskOptions, askOptions, confirmed, type Intent } from './confirm.js'
import { accountOption, type CliDeps } from './database.js'
import { withHints } from './limits.js'
import { count, nameAndValue, repeated } from './option-values.js'
import { say, sayFields, sayTable, sayText, shownTime, warn } from './output.js'
import { faultWithExcerpt, readInput, readVariables } from './template-input.js'

const parts = ['subject', 'html', 'text'] as const

/** What any of the sub-commands may be given. */
interface TemplateOptions {
  html?: string
  /** False with --no-text. */
  text?: string | false
  subject?: string
  at?: number
  part?: (typeof parts)[number]
  var?: [name: string, value: string][]
  vars?: string
}

/** `posthorn template`: templates of one account, saved from files. */
export function templateCommands(program: Command): void {
  const template = program
    .command('template')
    .description('templates (Liquid), their versions, and how they render')
  addCommands(template, rows)
}

const rows: readonly CommandRow[] = [
  {
    usage: 'put <slug>',
    does: operations.updateTemplate,
    about: "save a template's next version; what is not given stays as it is",
    options: [
      accountOption(),
      new Option('--html <file>', 'the HTML part; - reads it from stdin'),
      new Option(
        '--text <file>',
        'the text part; - reads it from stdin (default: made from the HTML)',
      ),
      new Option('--no-text', 'without a text part of its own'),
      new Option('--subject <text>', 'the subject, Liquid like the others'),
    ],
    help: "Example:\n  $ posthorn template put welcome --html welcome.html --subject 'Welcome, {{ name }}'",
    run: aboutOne(put),
  },
  {
    usage: 'list',
    does: operations.listTemplates,
    about: 'show the templates of an account',
    options: [accountOption()],
    help: 'Example:\n  $ posthorn template list',
    run: answering(list),
  },
  {
    usage: 'show <slug>',
    does: operations.getTemplate,
    about: 'show a template',
    options: [
      accountOption(),
      new Option('--at <version>', 'an older version').argParser(count),
      new Option('--part <name>', 'only this part, as it was saved').choices(parts),
    ],
    help: 'Example:\n  $ posthorn template show welcome --part html > welcome.html',
    run: aboutOne(show),
  },
  {
    usage: 'versions <slug>',
    does: operations.listTemplateVersions,
    about: 'show all versions of a template, the one in use first',
    options: [accountOption()],
    help: 'Example:\n  $ posthorn template versions welcome',
    run: aboutOne(versions),
  },
  {
    usage: 'delete <slug>',
    does: operations.deleteTemplate,
    about: 'delete a template and all its versions',
    options: [...askOptions(), accountOption()],
    help: 'Example:\n  $ posthorn template delete welcome',
    run: aboutOne(remove),
  },
  {
    usage: 'render <slug>',
    does: operations.renderTemplate,
    about: 'show what a template makes of variables; status 1 where a send would be refused',
    options: [
      accountOption(),
      new Option('--var <name=value>', 'a variable (can be repeated)').argParser(
        repeated(nameAndValue),
      ),
      new Option('--vars <file>', 'variables as a JSON object; - reads it from stdin'),
      new Option('--subject <text>', "in place of the template's subject"),
      new Option('--at <version>', 'an older version').argParser(count),
    ],
    help: 'Example:\n  $ posthorn template render welcome --var name=Ada',
    run: aboutOne(render),
  },
]

/**
 * Rendered for its syntax before it is saved: a send that finds a broken template is refused at the
 * worst moment. Automations that send it are named with what would fail in them.
 */
async function put(deps: CommandDeps, slug: string, options: TemplateOptions) {
  const { read } = deps.store
  const { id } = await deps.account()
  // Looked up in the list, as `findTemplate` throws for a missing template.
  const known = (await listTemplates(read, id)).some((t) => t.slug === slug)
  const before = known ? await findTemplate(read, id, slug) : undefined
  const draft = draftOf(slug, options, before)
  const saved = await withRenderer(deps, async (renderer) => {
    const fault = await findSyntaxFault(renderer, id, draft)
    if (fault !== undefined) throw faultWithExcerpt(draft, fault)
    return putTemplate({ ...deps, renderer }, id, draft)
  })
  const uses = await templateUses(read, id, slug)
  return {
    json: { ...shownTemplate(saved), automations: uses },
    say() {
      say(`${saved.slug} is saved as version ${saved.version}.`)
      for (const use of uses) sayUse(use)
    },
  }
}

/** The templates with the version in use. */
async function list({ store: { read }, account }: CommandDeps) {
  const json = await templatesAnswer(read, (await account()).id)
  return {
    json,
    say: () =>
      sayTable(
        ['SLUG', 'VERSION', 'SAVED', 'SUBJECT'],
        json.templates.map(({ slug, version, savedAt, subject }) => [
          slug,
          String(version),
          shownTime(Date.parse(savedAt)),
          subject,
        ]),
        "No template yet; 'posthorn template put SLUG' saves one",
      ),
  }
}

/** With --part, writes the bytes as they were saved, which `put` takes again. */
async function show(
  { store: { read }, account }: CommandDeps,
  slug: string,
  options: TemplateOptions,
) {
  const found = await findTemplate(read, (await account()).id, slug, options.at)
  if (options.part !== undefined) return void process.stdout.write(partOf(found, options.part))
  return {
    json: shownTemplate(found),
    say() {
      sayFields({
        Slug: found.slug,
        Version: String(found.version),
        Saved: shownTime(found.savedAt),
        Subject: found.subject,
      })
      if (found.textBody !== null) sayText(`\n${found.textBody}`)
      sayText(`\n${found.html}`)
    },
  }
}

/** All versions, with the subject that each had. */
async function versions({ store: { read }, account }: CommandDeps, slug: string) {
  const json = await versionsAnswer(read, (await account()).id, slug)
  return {
    json,
    say: () =>
      sayTable(
        ['VERSION', 'SAVED', 'SUBJECT'],
        json.versions.map((v) => [String(v.version), shownTime(Date.parse(v.savedAt)), v.subject]),
        'No version',
      ),
  }
}

/**
 * Refused while an automation or a live run sends it, because these would fail one contact after
 * another, unseen.
 */
async function remove(deps: CommandDeps, slug: string, options: AskOptions) {
  const { read } = deps.store
  const { id } = await deps.account()
  await refuseTemplateInUse(read, id, slug)
  const { length: versions } = await listVersions(read, id, slug)
  const intent: Intent = {
    to: `delete the template ${slug} and its ${counted(versions, 'version')}`,
    facts: ['Sends that name it are refused from then on'],
    counts: { slug, versions },
    how: 'moderate',
  }
  if (!(await confirmed(deps.place, options, intent))) return
  await deleteTemplate(deps, id, slug)
  return { json: deletedTemplate(slug), say: () => say(`${slug} is deleted.`) }
}

/** What a send would make of these variables; it saves and sends nothing. */
async function render(deps: CommandDeps, slug: string, options: TemplateOptions) {
  const { subject } = options
  const variables = readVariables(options)
  const found = await findTemplate(deps.store.read, (await deps.account()).id, slug, options.at)
  const outcome = await withRenderer(deps, (renderer) =>
    tryRender(renderer, found, { variables, subject, copyTags: 'shown' }),
  )
  if (outcome.kind === 'failed') {
    throw faultWithExcerpt({ ...found, subject: subject ?? found.subject }, outcome.fault)
  }
  const { rendered } = outcome
  return {
    json: rendered,
    say() {
      sayFields({ Subject: rendered.subject })
      if (rendered.text !== null) sayText(`\n${rendered.text}`)
      sayText(`\n${rendered.html}`)
    },
  }
}

/** A command about one template: for an unknown name it says which command shows the others. */
function aboutOne(work: AboutOne) {
  const hints = { not_found: "'posthorn template list' shows them" }
  return answering((deps, slug: string, options: TemplateOptions & AskOptions) =>
    withHints(hints, () => work(deps, slug, options)),
  )
}

type AboutOne = (
  deps: CommandDeps,
  slug: string,
  options: TemplateOptions & AskOptions,
) => Promise<CommandAnswer | undefined>

/** Which runs get the new version, and which variables they cannot fill in. */
function sayUse({ name, liveRuns, warnings }: TemplateUse): void {
  const runs = counted(liveRuns, 'live run')
  say(`Automation "${name}" sends it: ${runs}, and those to come, get this version.`)
  for (const { key, error } of warnings) {
    warn(`automation "${name}", step "${key}": ${error}, or its runs fail there`)
  }
}

/** Gives `work` a thread that renders, for as long as it takes. */
export async function withRenderer<T>(
  { clock }: CliDeps,
  work: (renderer: Renderer) => Promise<T>,
): Promise<T> {
  const renderer = openRenderer({ log: silentLog, clock })
  try {
    return await work(renderer)
  } finally {
    await renderer.close()
  }
}

/** The previous version with the options' changes. */
function draftOf(slug: string, options: TemplateOptions, before: Template | undefined) {
  const { html, text } = options
  if (html === '-' && text === '-') throw new OperatorError('Only one part can come from stdin')
  const subject = options.subject ?? before?.subject
  const newHtml = html === undefined ? before?.html : readInput(html)
  if (subject === undefined || newHtml === undefined) {
    throw new OperatorError(`There is no template "${slug}" yet: give --html and --subject`)
  }
  const newText = typeof text === 'string' ? readInput(text) : null
  const textBody = text === undefined ? (before?.textBody ?? null) : newText
  return { slug, subject, html: newHtml, textBody }
}

/** One part as it was saved. */
const partOf = ({ subject, html, textBody }: Template, part: (typeof parts)[number]) =>
  ({ subject, html, text: textBody ?? '' })[part]
