#include "lab.h"
#include "texts.h"
#include <stdlib.h>
#include <string.h>
void exp_reuters_duplicates(struct lab *lab){
 struct reuters r; if(!reuters_read(&r,lab))return; printf("%zu texts\n",r.count);
 for(size_t n=250;n<=500;n+=250){struct scored_pairs p; double s; gold_pairs(&p,&s,lab,n==250?"gold-250":"gold-500",r.texts,lab->quick?4000:r.count,n,0.85);
 size_t b[3]={0}; for(size_t i=0;i<p.count;i++){b[0]++;b[1]+=p.pairs[i].score>=.95f;b[2]+=p.pairs[i].score>=.99f;} printf("n %zu: %zu %zu %zu  %.2f s\n",n,b[0],b[1],b[2],s);} }
void exp_forest_vs_by(struct lab *lab){skip(lab,"x");}
