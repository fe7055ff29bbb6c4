/* test_html.c — what is seen of an HTML page, and what is hidden: tags, references, styles. */
#include <stdio.h>

#include "message_frame.h"

static void check_html(const char *html, const char *text, const char *hidden)
{
    char whole[1024];
    snprintf(whole, sizeof whole, "Content-Type: text/html; charset=utf-8\n\n%s", html);
    const twin_message *message = read_text(whole);
    assert_text(message->text, text);
    assert_text(message->hidden, hidden);
    assert_int_equal((message->flags & TWIN_MESSAGE_HIDDEN) != 0, hidden[0] != '\0');
}

static void references_become_characters(void **state_unused)
{
    (void)state_unused;
    check_html("&eacute;&#233;&#xE9;&#Xe9 &eacute &eacutex", "éééé é éx", "");
    check_html("&#128;&#146;&#151;", "€’—", ""); /* as browsers have it */
    check_html("&#0;&#xD800;&#x110000;&#99999999999;&#129;", "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD", "");
    check_html("&amp;lt; &lt;b&gt; &ampamp; & &; &# &#; &#x; &nosuch; &alpha &alpha;",
               "&lt; <b> &amp; & &; &# &#; &#x; "
               "&nosuch; &alpha α",
               "");
    check_html("&nbsp", "\u00a0", "");
    check_html("<img alt='&quot;&#65;&copy=1&copy;'>x", "\"A&copy=1© x", "");
    check_html("&thetasym;&longestnameofall;", "ϑ&longestnameofall;", "");
    check_html("a&ZeroWidthSpace;b&AMP&num;&num &vopf;&acy;&CounterClockwiseContourIntegral;", "a\u200bb&#&num 𝕧а∳",
               "");
    check_html("<img alt='&nGt;&nGt;'>&nGt;&zwnj;", "≫≫ ≫\u200c", "");
}

static void what_is_not_html_in_a_page_hides_no_tags(void **state_unused)
{
    (void)state_unused;
    check_html("<title><!--</title>a<!-- -->b", "ab", "");
    check_html("<title>a</b><p>b</title>c", "c", "");
    check_html("<textarea><!--&lt;<b></textarea>a<!-- -->b", "<!--<<b> ab", "");
    check_html("<xmp><!--&lt;<b></xmp>a", "<!--&lt;<b>\na", "");
    check_html("<iframe><!--a</iframe>b<noframes><b>c</noframes>d<noembed>e", "bd", "<!--a <b>c e");
    check_html("a<plaintext><b>b</plaintext><!--c", "a\n<b>b</plaintext><!--c", "");
    check_html("<template>a<b>b</b></template>c<datalist><option>d</datalist>e", "c\ne", "a b d");
}

static void tags_are_read_as_browsers_do(void **state_unused)
{
    (void)state_unused;
    check_html("a<!-->b<!--->c<!-- - -- > --!>d<!-- --", "abcd", "");
    check_html("a<!doctype html>b<?xml ?>c</ x>d<![if !x]>e", "abcde", "");
    check_html("1<2 <3 a<=b <", "1<2 <3 a<=b <", "");
    check_html("<B/>x</b >y<b/ hidden>z", "xy", "z");
    check_html("<img/alt=\"a\"alt=b>c", "a c", "");
    check_html("<p hidden=\">\">a</p>b", "b", "a");
    check_html("<p =hidden style=display:none>a</p>b", "b", "a");
    check_html("<script>if (a</b/.exec(c)) '</scripty>'</SCRIPT >d", "d", "");
    check_html("<script>never ends", "", "");
    check_html("a<b title='never ends", "a", "");
    check_html(
        "<averyveryveryveryveryveryveryveryverylongname hidden>a</averyveryveryveryveryveryveryveryverylongname>b",
        "b", "a");
}

static void elements_may_lack_their_end(void **state_unused)
{
    (void)state_unused;
    check_html("<p hidden>a<p>b<div>c", "b\nc", "a");
    check_html("<ul><li hidden>a<li>b</ul>c", "b\nc", "a");
    check_html("<dl><dt hidden>a<dd>b<dt>c</dl>", "b\nc", "a");
    check_html("<table><tr><td hidden>a<td>b<tr hidden><td>c<tr><td>d</table>e", "b\nd\ne", "a c");
    check_html("<table><tr><td><font color=white>a<td>b</table>", "b", "a");
    check_html("<table hidden><tr><td>a<table><tr><td>b</table>c</table>d", "d", "a b c");
    check_html("<div hidden><b>a</div>b", "b", "a");
    check_html("<div hidden>a</b></p></td>b</div>c", "c", "a b");
    check_html("<b hidden>a<div>b</b>c</div>d", "", "a b c d"); /* a </b> does not end a block */
    check_html("<select><option>a<option>b</select>", "a\nb", "");
    check_html("<title>a</title><title>b<body>c", "c", "");
}

static void html_becomes_what_is_seen(void **state_unused)
{
    (void)state_unused;
    check_html("<html><head><title>no</title><style>b{}</style></head><body>one<p>two</p>three<br>four</body></html>",
               "one\ntwo\nthree\nfour", "");
    check_html("f<b></b>re<!-- x -->e <i>mo</i>ney", "free money", "");
    check_html("<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>", "a b\nc", "");
    check_html("1 &lt; 2 &amp;&nbsp;caf&eacute; &#8364;", "1 < 2 &\u00a0café €", "");
    check_html("<script>var x = '<p>';</script>text<noscript>shown</noscript>", "textshown", "");
    check_html("<img alt='a picture' src=x.gif>text", "a picture text", "");
    check_html("text <b>unclosed", "text unclosed", "");
    check_html("a < b", "a < b", "");
    check_html("vi\x01"
               "a\x1bgra",
               "viagra", "");
}

static void hidden_text_is_kept_apart(void **state_unused)
{
    (void)state_unused;
    check_html("a<div style='display:none'>b<p>c</p></div>d", "a\nd", "b c");
    check_html("a <span style='DISPLAY : NONE !important'>b</span> d", "a d", "b");
    check_html("a <span style='display:/*x*/none'>b</span> d", "a d", "b");
    check_html("a <span style='color:white!important'>b</span> d", "a d", "b");
    check_html("a <span hidden>b</span> d", "a d", "b");
    check_html("a <span style='font-size:0px'>b</span> d", "a d", "b");
    check_html("a <span style='font-size:10px'>b</span> d", "a b d", "");
    check_html("a <span style='visibility:hidden'>b</span> d", "a d", "b");
    check_html("a <font color='#ffffff'>b</font> d", "a d", "b");
    check_html("a <font color='#fefefe'>b</font> d", "a d", "b");
    check_html("a <font color=white>b</font> d", "a d", "b");
    check_html("<body bgcolor=black text=white>b", "b", "");
    check_html("<p style='background-color: rgb(0, 0, 0); color: #000'>b</p>c", "c", "b");
    check_html("<p style='max-height:0;overflow:hidden'>b</p>c", "c", "b");
    check_html("a<p style='display:none'> &nbsp;&nbsp; </p>c", "a\nc", "");
    check_html("<p style='color: #333'>b</p>c", "b\nc", "");
}

static void hiding_has_many_spellings(void **state_unused)
{
    (void)state_unused;
    static const char *const styles[] = {
        "color:transparent",
        "color:rgba(0,0,0,0)",
        "color:rgba(0 0 0 / 0)",
        "color:#0000",
        "color:#ff000000",
        "color:hsl(9,5%,100%)",
        "color:hsla(0,0%,99%,1)",
        "color:rgb(255 255 255)",
        "font:0/0 a",
        "font:0px Arial",
        "font:italic 700 1px/1 a",
        "font:bold .01em a",
        "d\\69splay:none",
        "display:n\\6f ne",
        "dis\\play:none",
        "display:\\6eone",
        "height:0;overflow:hidden",
        "width:0;overflow:hidden",
        "max-height:1px;overflow-y:hidden",
        "max-width:0;overflow-x:clip",
        "/*:;*/display:/*;*/none",
        "height:0;width:600px;overflow:hidden",
        "overflow:hidden;overflow-wrap:normal;height:0",
        "display:none;display:shown",
        "display:none!important;display:block",
        "font-size:0!important;font:12px a",
        "visibility:hidden;visibility:x",
        "opacity:1%",
        "font-size:1e-9px",
        "font-size:.01rem",
        "text-indent:-99em",
        "-webkit-text-fill-color:transparent",
        "color:#fff;-webkit-text-stroke:0 red",
        "background:url(a;b:c/*);background:#000;color:#000",
        "font-family:\"a;b\";display:none",
    };
    for (size_t i = 0; i < sizeof styles / sizeof styles[0]; i++) {
        char page[128];
        snprintf(page, sizeof page, "a<p style='%s'>b</p>c", styles[i]);
        check_html(page, "a\nc", "b");
        snprintf(page, sizeof page, "<style>.x{/**/ %s}</style>a<p class=x>b</p>c", styles[i]);
        check_html(page, "a\nc", "b");
    }
}

/* Declarations by which a browser shows what a careless reader takes for hidden. */
static void showing_has_many_spellings(void **state_unused)
{
    (void)state_unused;
    static const char *const styles[] = {
        "opacity:inherit",
        "opacity:initial",
        "opacity:0;opacity:unset",
        "display:no/**/ne",
        "dis/**/play:none",
        "display:nonesuch",
        "display:none!unimportant",
        "display:block!important;display:none",
        "font-family:\"a;display:none;b\"",
        "font-family:\"a\\\";display:none;b\"",
        "background:url(a;display:none;)",
        "color\\0 :#fff",
        "color:#fff;color:inherit",
        "font-size:0;font-size:100%",
        "background:#000;background:none",
        "height:0;min-height:20px;overflow:hidden",
        "height:0;height:auto;overflow:hidden",
        "color:#fff;-webkit-text-fill-color:red",
        "color:red\\3b display:none",
    };
    for (size_t i = 0; i < sizeof styles / sizeof styles[0]; i++) {
        char page[128];
        snprintf(page, sizeof page, "a<p style='%s'>b</p>c", styles[i]);
        check_html(page, "a\nb\nc", "");
        snprintf(page, sizeof page, "<style>.x{%s}</style>a<p class=x>b</p>c", styles[i]);
        check_html(page, "a\nb\nc", "");
    }
}

/* "inherit" means what the element around has, hidden or not. */
static void what_is_inherited_stays_hidden(void **state_unused)
{
    (void)state_unused;
    check_html("<p style='visibility:hidden'>a<b style='visibility:inherit'>b</b></p>", "", "a b");
    check_html("<p style='text-indent:-999px'>a<b style='text-indent:unset'>b</b></p>", "", "a b");
    check_html("<p style='font-size:0'>a<b style='font:inherit'>b</b></p>", "", "a b");
    check_html("<p style='color:#fff'>a<b style='color:red;color:currentcolor'>b</b></p>", "", "a b");
    check_html("<p style='color:#fff;text-shadow:0 0 1px #000'>a<b style='text-shadow:none'>b</b></p>", "a", "b");
}

static void important_rules_win(void **state_unused)
{
    (void)state_unused;
    check_html("<style>.x{display:none!important}</style><b class=x style='display:inline'>a</b>b", "b", "a");
    check_html("<style>.x{display:none!important}</style><b class=x style='display:inline!important'>a</b>b", "ab",
               "");
    check_html("<style>.x{color:red!important}</style><b class=x style='color:#fff'>a</b>b", "ab", "");
    /* Only of the element that they are declared for. */
    check_html("<p style='visibility:hidden!important'>a<b style='visibility:visible'>b</b></p>", "b", "a");
}

/* The address of a picture may be longer than what is kept of a value. */
static void a_value_that_is_cut_takes_no_other_with_it(void **state_unused)
{
    (void)state_unused;
    check_html("<style>.x{background:url(http://a.example/a/very/long/path/of/a/picture/that/is/behind/the/text.png);"
               "display:none}</style>a<p class=x>b</p>c",
               "a\nc", "b");
    check_html(
        "<style>.x{font:12px \"a font whose name is longer than what is kept of a value, which is sixty-four\";"
        "display:none}</style>a<p class=x>b</p>c",
        "a\nc", "b");
}

static void style_sheets_hide(void **state_unused)
{
    (void)state_unused;
    check_html("<style>.x{display:none}</style>a <b class=x>b</b> d", "a d", "b");
    check_html("<style><!-- /* y */ p.X , .z { color : red; DISPLAY:none } --></style>a <b class='y x'>b</b> d",
               "a d", "b");
    check_html("<style>#x{font-size:0}</style>a <b id=x>b</b> d", "a d", "b");
    check_html("<style>@import url(x);@media print{.x{display:none}} .y{display:none}</style><b class=x>a</b><b "
               "class=y>b</b>",
               "a", "b");
    check_html("<style>.x{display:none}</style>a <b class=x style='display:inline'>b</b>", "a b", "");
    check_html("<style>body{background:#000;color:#fff}</style><body>a<font color=black>b</font>", "a", "b");
    check_html("<style>.dark{background-color:#003}</style><p class=dark><font color=white>a</font></p>", "a", "");
    check_html("<style>.x .y{display:none}.x:hover{display:none}.x.y{display:none}.{display:none}</style><b class='x "
               "y'>a</b>",
               "a", "");
    check_html("<style>.x{display:none", "", "");
    check_html("<style>}}}{{{;;;@</style>a", "a", "");
    check_html("<b class=x>a</b>", "a", ""); /* no rule stays from the page before */
}

static void what_is_seen_is_not_taken_for_hidden(void **state_unused)
{
    (void)state_unused;
    check_html("<td style='font-size:0'>a<span style='font-size:14px'>b</span></td>", "b", "a"); /* a usual layout */
    check_html("<p style='font-size:0'>a<b style='font-size:200%'>b</b></p>", "", "a b");
    check_html("<p style='visibility:hidden'>a<b style='visibility:visible'>b</b></p>", "b", "a");
    check_html("<p style='display:none'>a<b style='display:block'>b</b></p>", "", "a b");
    check_html("<p hidden style='display:block'>b</p>", "b", "");
    check_html("<p style='display:none;display:block'>b</p>", "b", "");
    check_html("<p style='max-height:0'>b</p>", "b", ""); /* it does not fit in, and is shown */
    check_html("<p style='overflow:hidden'>b</p>", "b", "");
    check_html("<style>.x{color:#fff;text-shadow:0 0 1px #000}</style><p class=x>b</p>", "b", "");
    check_html("<style>.x{color:#fff;-webkit-text-stroke:1px red}</style><p class=x>b</p>", "b", "");
    check_html("<style>.x{color:transparent;-webkit-background-clip:text}</style><p class=x>b</p>", "b", "");
    check_html("<p style='text-indent:-999px'>a<b style='text-indent:0'>b</b></p>", "b", "a");
    check_html("<td bgcolor=navy><font color=white>b</font></td>", "b", "");
    check_html("<td background='sky.jpg'><font color=white>b</font></td>", "b", "");
    check_html("<p style='background:#fff url(sky.jpg);color:#fff'>b</p>", "b", "");
    check_html("<p style='background:linear-gradient(red,blue);color:#fff'>b</p>", "b", "");
    check_html("<p style='mso-hide:all'>b</p>", "b", ""); /* hidden by one program only */
    check_html("<p style='color:#fff;text-shadow:0 0 1px #000'>b</p>", "b", "");
    check_html("<p style='color:transparent;-webkit-background-clip:text;background:red'>b</p>", "b", "");
    check_html("<p style='color:transparent'>a<b style='color:red'>b</b></p>", "b", "a");
    check_html("<p style='color:rgba(255,255,255,.9);background:rgba(0,0,0,.5)'>b</p>", "b", "");
    check_html("<p style='color:#000;background:rgba(0,0,0,.5)'>b</p>", "b", "");
    check_html("<p style='font:0 a'>a<b style='font:bold 12px/1 a'>b</b></p>", "b", "a");
    check_html("<p style='font:700 12px a'>b</p><p style='font:small-caps caption'>c</p>", "b\nc", "");
    check_html("<p style='color:hsl(0,100%,50%)'>b</p>", "b", "");
    check_html("<p style='color:transparentish;background-color:transparent'>b</p>", "b", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(references_become_characters),
        cmocka_unit_test(what_is_not_html_in_a_page_hides_no_tags),
        cmocka_unit_test(tags_are_read_as_browsers_do),
        cmocka_unit_test(elements_may_lack_their_end),
        cmocka_unit_test(html_becomes_what_is_seen),
        cmocka_unit_test(hidden_text_is_kept_apart),
        cmocka_unit_test(hiding_has_many_spellings),
        cmocka_unit_test(showing_has_many_spellings),
        cmocka_unit_test(what_is_inherited_stays_hidden),
        cmocka_unit_test(important_rules_win),
        cmocka_unit_test(a_value_that_is_cut_takes_no_other_with_it),
        cmocka_unit_test(style_sheets_hide),
        cmocka_unit_test(what_is_seen_is_not_taken_for_hidden),
    };
    return cmocka_run_group_tests(tests, create_reader, free_reader);
}
