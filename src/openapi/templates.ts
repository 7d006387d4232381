import {
  accountRefusals,
  ceiling,
  confirmation,
  foreignCursor,
  invalidField,
  pageFields,
  pageQuery,
  refusal,
  storageFull,
} from '../contract/index.js'
import { closed, count, orNull, ownData, text, time, uuid } from '../fields/index.js'
import type { Description } from './description.js'

/** Few characters: the slug stands in paths, in commands and in log lines. */
const slug = text('The name by which mails ask for the template', {
  pattern: '^[a-z0-9][a-z0-9_-]{0,63}$',
  examples: ['welcome'],
})
const params = { slug: text('The slug of the template') }
const versionParams = { ...params, version: count('The number of the version', { minimum: 1 }) }
const subject = text('The subject, in Liquid')
const html = text(
  'The HTML, in Liquid; at most 256 KiB. Marketing mail also has `unsubscribe_url`, `preferences_url` and `unsubscribe_footer` (see campaigns). In an `href` a tag may be percent-encoded',
)
const textBody = text(
  'The text part, in Liquid; at most 256 KiB. Without it the text is made from the HTML',
)
const version = count('The number of the version; each save makes the next one', { minimum: 1 })
/** `textBody` and not `text`, as interface.md names the text of a template. */
const fields = {
  slug: text('The name by which mails ask for the template; case-sensitive'),
  version,
  subject,
  html,
  textBody: orNull(textBody),
  savedAt: time('When this version was saved'),
}
/**
 * A change of a template reaches runs that are under way, so the answer names those whose steps
 * could now fail.
 */
const saved = {
  ...fields,
  automations: {
    type: 'array',
    description:
      'Automations that are enabled or have live runs, whose next mails are made of this template',
    items: closed({
      id: uuid('The id of the automation'),
      name: text('The name of the automation'),
      liveRuns: count('How many live runs have steps that send it'),
      warnings: {
        type: 'array',
        description: 'Variables that the template needs and a send step does not know',
        items: closed({ key: text('The key of the step'), error: text('What is wrong there') }),
      },
    }),
  },
}
/** Version 3, so that the examples of older versions have something to be. */
const example = {
  slug: 'welcome',
  version: 3,
  subject: 'Welcome, {{ name }}',
  html: '<p>Hello {{ name }}!</p>',
  textBody: null,
  savedAt: '2026-11-21T10:00:00.000Z',
}
/** Without the content, which may have 256 KiB a part. */
const summary = {
  slug: 'welcome',
  version: 3,
  subject: 'Welcome, {{ name }}',
  createdAt: '2026-11-20T10:00:00.000Z',
  savedAt: '2026-11-21T10:00:00.000Z',
}
/** Slugs are case-sensitive and scoped to the account (interface.md, 404). */
const noSuchTemplate = refusal(
  'not_found',
  'The account has no such template or version',
  'The account has no template "welcome"',
)
/** A 422 with the name of the part: a body of the right shape whose content does not do. */
const badField = invalidField(
  'A part is empty or too large, or the slug has characters that no slug has',
  "A template's html must not be empty",
  'html',
)
/** Line and column, because templates are written in editors that jump there. */
const badLiquid = refusal(
  'validation_error',
  'Its Liquid is wrong',
  'Template "welcome" has a syntax error: unexpected "}" (html, line 1, column 7)',
  {
    status: 422,
    shape: 'BadTemplate',
    fields: {
      part: orNull(text('The part that is wrong, `subject`, `html` or `text`; null: all of it')),
      line: count('The line of that part, from 1'),
      column: count('The column of that line, from 1'),
    },
    optional: ['line', 'column'],
    example: { part: 'html', line: 1, column: 7 },
  },
)
/** Every save answers alike, the first and the later ones. */
const isSaved = {
  status: 200,
  when: 'The version that is in use now',
  shape: 'TemplateSaved',
  value: { ...example, automations: [] },
}

export const templates: Description = {
  tag: {
    name: 'Templates',
    description:
      'Subject, HTML and text in Liquid, which mails name by a slug. Each save is a version, and the newest is in use.',
  },
  schemas: {
    Template: closed(fields),
    TemplateSaved: closed(saved),
    Templates: closed({
      templates: {
        type: 'array',
        items: closed({
          slug: fields.slug,
          version,
          subject,
          createdAt: time('When its first version was saved'),
          savedAt: time('When this version was saved'),
        }),
      },
      ...pageFields,
    }),
    NewTemplate: {
      type: 'object',
      properties: { slug, subject, html, textBody },
      required: ['slug', 'subject', 'html'],
    },
    // No slug: mails and automations name the template by it, and would look for it in vain.
    TemplateChanges: {
      type: 'object',
      minProperties: 1,
      description: 'At least one field; those that are not given stay as they are.',
      properties: {
        subject,
        html,
        textBody: text('An empty one takes it away: the text is then made from the HTML'),
      },
    },
    TemplateVersions: closed({
      versions: {
        type: 'array',
        items: closed({ version, subject, savedAt: time('When this version was saved') }),
      },
      ...pageFields,
    }),
    TemplateVariables: {
      type: 'object',
      properties: {
        variables: ownData('The values that it is filled in with; at most 256 KiB as JSON'),
        subject: text("A subject in Liquid, in place of the template's"),
        version: { ...version, description: 'An older version; default: the newest' },
      },
    },
    RenderedTemplate: closed({
      subject: text('The subject, filled in'),
      html: text('The HTML, filled in'),
      text: orNull(text('The text part, filled in; null where it is made from the HTML')),
    }),
    TemplateDeleted: closed({
      slug: fields.slug,
      deleted: { const: true },
      message: confirmation,
    }),
  },
  operations: {
    'GET /v1/templates': {
      id: 'listTemplates',
      summary: 'List the templates',
      query: pageQuery,
      answers: [
        {
          status: 200,
          when: 'By slug',
          shape: 'Templates',
          value: { templates: [summary], hasMore: false, nextCursor: null },
        },
      ],
      refusals: [foreignCursor],
    },
    'POST /v1/templates': {
      id: 'createTemplate',
      summary: 'Make a template',
      body: {
        shape: 'NewTemplate',
        examples: [
          {
            when: 'A template',
            value: { slug: 'welcome', subject: example.subject, html: example.html },
          },
        ],
      },
      answers: [
        { status: 201, when: 'It was made', shape: 'Template', value: { ...example, version: 1 } },
      ],
      refusals: [
        badField,
        badLiquid,
        refusal('conflict', 'The slug is taken', 'There is a template "welcome" already'),
        ...accountRefusals,
        ceiling('2,000 templates', 'templates'),
        storageFull,
      ],
    },
    'GET /v1/templates/:slug': {
      id: 'getTemplate',
      summary: 'One template, as it is in use',
      params,
      answers: [{ status: 200, when: 'The template', shape: 'Template', value: example }],
      refusals: [noSuchTemplate],
    },
    'PATCH /v1/templates/:slug': {
      id: 'updateTemplate',
      summary: "Save a template's next version",
      description: 'Mails that were accepted stay what they are.',
      params,
      body: {
        shape: 'TemplateChanges',
        examples: [{ when: 'Another subject', value: { subject: 'Hello, {{ name }}' } }],
      },
      answers: [isSaved],
      refusals: [noSuchTemplate, badField, badLiquid, ...accountRefusals, storageFull],
    },
    'DELETE /v1/templates/:slug': {
      id: 'deleteTemplate',
      summary: 'Delete a template with its versions',
      description: 'Mails that were accepted leave all the same.',
      params,
      answers: [
        {
          status: 200,
          when: 'It was deleted',
          shape: 'TemplateDeleted',
          value: { slug: 'welcome', deleted: true, message: 'Template and its versions deleted' },
        },
      ],
      refusals: [
        noSuchTemplate,
        refusal(
          'conflict',
          'Automations send it',
          'Template "welcome" is sent by "Onboarding"; archive or change that, and let its runs end, first',
        ),
      ],
    },
    // A POST that changes nothing: variables of 256 KiB have no room in a query.
    'POST /v1/templates/:slug/render': {
      id: 'renderTemplate',
      summary: 'What a template makes of variables',
      description:
        'Refused as a send with them would be; nothing is sent. What each copy of marketing mail fills in stays as a tag.',
      params,
      body: {
        shape: 'TemplateVariables',
        examples: [{ when: 'Filled in', value: { variables: { name: 'Ada' } } }],
      },
      answers: [
        {
          status: 200,
          when: 'Filled in',
          shape: 'RenderedTemplate',
          value: { subject: 'Welcome, Ada', html: '<p>Hello Ada!</p>', text: null },
        },
      ],
      refusals: [
        noSuchTemplate,
        refusal(
          'validation_error',
          'It cannot be filled in',
          'Template "welcome" cannot be rendered: undefined variable: name (html, line 1, column 10)',
          { status: 422 },
        ),
      ],
    },
    'GET /v1/templates/:slug/versions': {
      id: 'listTemplateVersions',
      summary: 'The versions of a template',
      params,
      query: pageQuery,
      answers: [
        {
          status: 200,
          when: 'The newest, which is in use, first',
          shape: 'TemplateVersions',
          value: {
            versions: [{ version: 3, subject: example.subject, savedAt: example.savedAt }],
            hasMore: false,
            nextCursor: null,
          },
        },
      ],
      refusals: [noSuchTemplate, foreignCursor],
    },
    'GET /v1/templates/:slug/versions/:version': {
      id: 'getTemplateVersion',
      summary: 'One version of a template',
      params: versionParams,
      answers: [
        { status: 200, when: 'The version', shape: 'Template', value: { ...example, version: 2 } },
      ],
      refusals: [noSuchTemplate],
    },
    'POST /v1/templates/:slug/versions/:version/restore': {
      id: 'restoreTemplateVersion',
      summary: 'Bring an older version back into use',
      description: 'It is saved again as the next version; those between stay.',
      params: versionParams,
      answers: [isSaved],
      refusals: [noSuchTemplate, ...accountRefusals, storageFull],
    },
  },
}
