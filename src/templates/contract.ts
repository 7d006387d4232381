import { refine } from 'superstruct'
import { type BlockDocument, blockDocument } from '../blocks/index.js'
import {
  accountRefusals,
  answer,
  type Contract,
  ceiling,
  confirmation,
  foreignCursor,
  manyOf,
  operation,
  pageFields,
  pageParams,
  refusal,
  shape,
  storageFull,
} from '../contract/index.js'
import {
  type Field,
  field,
  maybe,
  orNull,
  ownData,
  rule,
  structOf,
  table,
  text,
  whole,
  words,
} from '../fields/index.js'
import { isJsonObject } from '../json/index.js'
import {
  badField,
  badLiquid,
  blocks,
  example,
  html,
  isSaved,
  known,
  ofTemplate,
  slug,
  subject,
  template,
  textBody,
} from './contract-parts.js'
import {
  getTemplateVersion,
  listTemplateVersions,
  restoreTemplateVersion,
} from './contract-versions.js'

/** The parts of a template that a client writes. */
export const parts = {
  subject,
  html: maybe(html),
  textBody: maybe(textBody),
  blocks: maybe(blocks),
}
export { blocks } from './contract-parts.js'
export { getTemplateVersion, listTemplateVersions, restoreTemplateVersion, slug }

// Mails call this `text`, but here it has another name; without this refusal the template would silently have no text
// part.
const named = <T>(given: Field<T>): Field<T> =>
  field(
    refine(structOf(given), 'name', (value) =>
      Object.hasOwn(Object(value), 'text')
        ? 'Expected textBody in place of text'
        : !isGiven(value, 'html') ||
          !isGiven(value, 'blocks') ||
          'Expected html or blocks, and not both',
    ),
    given.schema,
  )

const exampleBlocks: BlockDocument = {
  version: 1,
  blocks: [
    { type: 'heading', text: 'Hello {{ firstName | default: "you" }}' },
    { type: 'text', text: 'Our **new** shop is [open](https://example.com/).' },
    { type: 'button', text: 'Have a look', url: 'https://example.com/', align: 'center' },
  ],
}

const isGiven = (value: unknown, name: string) => (Object(value)[name] ?? undefined) !== undefined

export const listTemplates = operation('GET /v1/templates', {
  id: 'listTemplates',
  may: 'read',
  query: pageParams(),
  says: () => ({
    summary: 'List the templates',
    answers: [
      answer(
        'By slug',
        'Templates',
        { templates: manyOf(ofTemplate), ...pageFields },
        {
          templates: [
            {
              slug: example.slug,
              version: example.version,
              subject: example.subject,
              createdAt: '2026-11-20T10:00:00.000Z',
              savedAt: example.savedAt,
            },
          ],
          hasMore: false,
          nextCursor: null,
        },
      ),
    ],
    refusals: [foreignCursor],
  }),
})

export const createTemplate = operation('POST /v1/templates', {
  id: 'createTemplate',
  may: 'full',
  audit: 'template.create',
  body: shape('NewTemplate', named(table({ slug, ...parts }))),
  says: () => ({
    summary: 'Make a template',
    examples: {
      'A template': { slug: example.slug, subject: example.subject, html: example.html },
      'Of blocks': { slug: 'news', subject: 'News', blocks: exampleBlocks },
    },
    answers: [answer('It was made', 'Template', known, { ...example, version: 1 }, 201)],
    refusals: [
      badField(),
      badLiquid(),
      refusal('conflict', 'The slug is taken', 'There is a template "welcome" already'),
      ...accountRefusals,
      ceiling('2,000 templates', 'templates'),
      storageFull,
    ],
  }),
})

export const getTemplate = operation('GET /v1/templates/:slug', {
  id: 'getTemplate',
  may: 'read',
  of: template,
  says: () => ({
    summary: 'One template, as it is in use',
    answers: [answer('The template', 'Template', known, example)],
  }),
})

export const updateTemplate = operation('PATCH /v1/templates/:slug', {
  id: 'updateTemplate',
  may: 'full',
  audit: 'template.save',
  of: template,
  // The slug cannot be changed: mails and automations name the template by it, and would not find it.
  body: shape(
    'TemplateChanges',
    named(
      table(
        {
          subject: maybe(subject),
          html: maybe(html),
          blocks: maybe(blocks),
          textBody: maybe(words('An empty one takes it away: the text is then made from the HTML')),
        },
        {
          atLeastOne: true,
          about: 'At least one field; those that are not given stay as they are.',
        },
      ),
    ),
  ),
  says: () => ({
    summary: "Save a template's next version",
    description: 'Mails that were accepted stay what they are.',
    examples: { 'Another subject': { subject: 'Hello, {{ name }}' } },
    answers: [isSaved()],
    refusals: [badField(), badLiquid(), ...accountRefusals, storageFull],
  }),
})

export const deleteTemplate = operation('DELETE /v1/templates/:slug', {
  id: 'deleteTemplate',
  may: 'full',
  audit: 'template.delete',
  of: template,
  says: () => ({
    summary: 'Delete a template with its versions',
    description: 'Mails that were accepted leave all the same.',
    answers: [
      answer(
        'It was deleted',
        'TemplateDeleted',
        { slug: known.slug, deleted: { const: true }, message: confirmation },
        { slug: example.slug, deleted: true, message: 'Template and its versions deleted' },
      ),
    ],
    refusals: [
      refusal(
        'conflict',
        'Automations send it',
        'Template "welcome" is sent by "Onboarding"; archive or change that, and let its runs end, first',
      ),
    ],
  }),
})

// A POST that changes nothing, because variables of 256 KiB do not fit into a query.
export const renderTemplate = operation('POST /v1/templates/:slug/render', {
  id: 'renderTemplate',
  may: 'read',
  of: template,
  body: shape(
    'TemplateVariables',
    table({
      variables: maybe(
        field(
          rule<Record<string, unknown>>('an object', isJsonObject),
          ownData('The values that it is filled in with; at most 256 KiB as JSON'),
        ),
      ),
      subject: maybe(words("A subject in Liquid, in place of the template's")),
      version: maybe(whole('An older version', { least: 1 }), 'the newest'),
    }),
  ),
  says: () => ({
    summary: 'What a template makes of variables',
    description:
      'Refused as a send with them would be; nothing is sent. What each copy of marketing mail fills in stays as a tag.',
    examples: { 'Filled in': { variables: { name: 'Ada' } } },
    answers: [
      answer(
        'Filled in',
        'RenderedTemplate',
        {
          subject: text('The subject, filled in'),
          html: text('The HTML, filled in'),
          text: orNull(text('The text part, filled in; null where it is made from the HTML')),
        },
        { subject: 'Welcome, Ada', html: '<p>Hello Ada!</p>', text: null },
      ),
    ],
    refusals: [
      refusal(
        'validation_error',
        'It cannot be filled in',
        'Template "welcome" cannot be rendered: undefined variable: name (html, line 1, column 10)',
        { status: 422 },
      ),
    ],
  }),
})

export const templates: Contract = {
  tag: {
    name: 'Templates',
    description:
      'Subject, HTML and text in Liquid, which mails name by a slug. Each save is a version, and the newest is in use.',
  },
  operations: [
    listTemplates,
    createTemplate,
    getTemplate,
    updateTemplate,
    deleteTemplate,
    renderTemplate,
    listTemplateVersions,
    getTemplateVersion,
    restoreTemplateVersion,
  ],
  shapes: () => ({ BlockDocument: blockDocument.schema }),
}
