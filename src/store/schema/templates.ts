import { integer, table, text } from './table.js'

const templates = table(
  'templates',
  {
    id: text().primaryKey(),
    account_id: text().references('accounts'),
    /** Compared byte by byte, as in every engine: slugs are case-sensitive. */
    slug: text(),
    /** The number of the version in use. */
    version: integer(),
    created_at: integer(),
    /** JSON: for each variable, by its path, the text that the template's page fills in. */
    samples: text().orNull(),
  },
  { unique: [['account_id', 'slug']] },
)

const templateVersions = table(
  'template_versions',
  {
    id: text().primaryKey(),
    template_id: text().references('templates', 'cascade'),
    version: integer(),
    subject: text(),
    html: text(),
    text: text().orNull(),
    /** JSON of the document from which the HTML is made; null where somebody wrote the HTML. */
    blocks: text().orNull(),
    created_at: integer(),
    /** The body with the version's Liquid that all mails of automations share; set with the first of them. */
    body_id: integer().orNull(),
  },
  {
    unique: [['template_id', 'version']],
    indexes: {
      template_versions_body: { on: ['body_id'], where: (row) => row('body_id', 'is not', null) },
    },
  },
)

export const templatesTables = [templates, templateVersions] as const
