/*
 * Owns what an automation can begin with: whole definitions, with the templates and segments that they ask for. What
 * must hold: each passes `validate` as it stands.
 */
export { type AsMade, asMade } from './as-made.js'
export { type Beginning, beginAutomation, type RecipeDeps } from './begin.js'
export type { Recipe } from './recipe.js'
export { recipes } from './recipes.js'
