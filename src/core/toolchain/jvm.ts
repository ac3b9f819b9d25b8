/** Java, Kotlin, Scala and Groovy. */
import { type Ecosystem, propose, type ToolReading } from "./tool.ts";

const READS: ToolReading = { words: "subjects", roles: ["tests:java", "tests:any", "config:java"] };
const POM = /^pom\.xml$/;
const GRADLE = /^build\.gradle(?:\.kts)?$/;
const COMPILER =
  /^(?:\[ERROR\] )?(?:e: )?(?:file:\/\/)?(?<name>\/?\S+\.(?:java|kt|scala|groovy)):\[?\d+[,:]?(?:\d+\])?:? ?(?<message>(?:error: )?.*)$/gm;

export const JVM: Ecosystem = {
  tools: [
    {
      name: "maven",
      programs: ["mvn", "mvnw", "mvnd"],
      reads: READS,
      phrases: ["(?:mvn|\\./mvnw)(?: -q)? (?:test|verify|compile|package)"],
      commands: [
        { topic: "test", command: "./mvnw -q test", signs: [POM, /^mvnw$/] },
        { topic: "test", command: "mvn -q test", signs: [POM] },
        { topic: "build", command: "./mvnw -q compile", signs: [POM, /^mvnw$/] },
        { topic: "build", command: "mvn -q compile", signs: [POM] },
        propose("types", "./mvnw -q test-compile", [POM, /^mvnw$/]),
        propose("types", "mvn -q test-compile", [POM]),
      ],
      tests: {
        when: /(?:^| )(?:test|verify|integration-test|surefire:test|failsafe:\S+)(?= |$)/,
        maybe: /(?:^| )(?:package|install|deploy)(?= |$)/,
        idle: "-h -v -DskipTests -DskipTests=true -Dmaven.test.skip=true -Dmaven.test.skip".split(" "),
        output: {
          // Lines of single classes have a time; the line with the total has none.
          summary:
            /^(?:\[\w+\] )?[ \t]*Tests run: \d+, Failures: \d+, Errors: \d+, Skipped: \d+(?!.*Time elapsed).*$/gm,
          failures: [
            /^(?:\[ERROR\] )?(?<test>\w+)\((?<name>[\w.$]+)\)(?: --)?[ \t]+Time elapsed: .*<<< (?:FAILURE|ERROR)!$/gm,
            /^(?:\[ERROR\] )?(?<name>[^\s(]\S*?)(?: --)?[ \t]+Time elapsed: .*<<< (?:FAILURE|ERROR)!$/gm,
            /^\[ERROR\] {3}(?<name>\w+\.\w+):\d+ (?<message>.*)$/gm,
            COMPILER,
          ],
          broken: /COMPILATION ERROR/gm,
        },
      },
    },
    {
      name: "gradle",
      programs: ["gradle", "gradlew"],
      reads: READS,
      phrases: ["(?:gradle|\\./gradlew) (?:test|build|check)"],
      commands: [
        { topic: "test", command: "./gradlew test", signs: [GRADLE, /^gradlew$/] },
        { topic: "test", command: "gradle test", signs: [GRADLE] },
        { topic: "build", command: "./gradlew assemble", signs: [GRADLE, /^gradlew$/] },
        { topic: "build", command: "gradle assemble", signs: [GRADLE] },
        propose("types", "./gradlew testClasses", [GRADLE, /^gradlew$/]),
        propose("types", "gradle testClasses", [GRADLE]),
      ],
      tests: {
        when: /(?:^| |:)(?:test\w*|\w+Test\w*|check)(?= |$)/,
        maybe: /(?:^| |:)build(?= |$)/,
        idle: ["-h", "-v", "-m", "-x test", "--exclude-task test"],
        output: {
          summary: /^\d+ tests? completed, .*$|^BUILD SUCCESSFUL\b.*$|^> There were failing tests.*$/gm,
          isRedOnly: true,
          failures: [/^(?<name>\S.* > .*?) FAILED$/gm, COMPILER],
          broken: /^> Compilation (?:failed|error)|:compile\w+ FAILED$/gm,
        },
      },
    },
    { name: "another builder of Java", programs: ["sbt", "ant"], reads: READS },
  ],
  files: [
    ["tests:java", /(?:Tests?|IT|Spec)\.(?:java|kt|groovy|scala)$/],
    [
      "config:java",
      /^(?:build|settings|init)\.gradle(?:\.kts)?$|^(?:gradle|local)\.properties$|^gradle-wrapper\.(?:jar|properties)$|^gradlew$|^mvnw$|^pom\.xml$|^libs\.versions\.toml$|^gradle\.lockfile$|^build\.sbt$|^(?:testng|checkstyle|pmd|spotbugs)[\w-]*\.xml$|^junit-platform\.properties$/,
    ],
  ],
  paths: [["config:java", /(?:^|\/)\.mvn\//]],
  folders: [".gradle"],
  foldersBeside: [
    ["target", /^(?:pom\.xml|build\.sbt|project\.clj)$/],
    ["build", GRADLE],
  ],
};
