/*
 * Titles as catalogues from web pages spell them: with entities of HTML.
 */
#ifndef DPMF_SHARED_TITLE_ENTITIES_H
#define DPMF_SHARED_TITLE_ENTITIES_H

/* Turns &amp; &lt; &gt; &quot; &apos; and numbers such as &#39; and &#x27; into the characters that
 * they stand for, once: &amp;lt; becomes &lt;. All else stays, control characters above all. */
void title_entities_decode(char *title);

#endif
