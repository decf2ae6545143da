/** Name and version as provenance states them; a test holds it equal to package.json. */
export const SOFTWARE = 'tachograph/0.1.0';
